// Values of up to six dimensions as the generic operations see them, and loops over the elements of several
// of them at once.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "kernels/operations/tensor.h"

namespace bench::kernels {

// Extents, outermost first.
class Dims {
 public:
  static constexpr std::size_t kMost = 6;

  Dims() = default;
  // Throws std::logic_error beyond six dimensions.
  Dims(std::initializer_list<std::int64_t> extents);
  void append(std::int64_t extent);

  std::size_t rank() const { return rank_; }
  const std::int64_t& operator[](std::size_t dimension) const { return extents_.at(dimension); }
  std::int64_t& operator[](std::size_t dimension) { return extents_.at(dimension); }
  std::int64_t elements() const;

  bool operator==(const Dims&) const = default;

 private:
  std::array<std::int64_t, kMost> extents_{};  // those after the rank are 0
  std::size_t rank_ = 0;
};

// A value in memory.
struct Array {
  Dims dims;
  Layout layout = Layout::nchw;  // nchw: in the order of the dimensions; another one of four dimensions only
  Dtype dtype = Dtype::fp32;

  // As slots describe it; store() and load() see its elements in the order of the dimensions.
  TensorDesc tensor() const;
  // Where an element is stored, in elements.
  std::int64_t place(const std::array<std::int64_t, Dims::kMost>& index) const;

  bool operator==(const Array&) const = default;
};

// A tensor of four extents.
inline Array array_of(const TensorDesc& tensor) {
  return {{tensor.n, tensor.c, tensor.h, tensor.w}, tensor.layout, tensor.dtype};
}

// How an array is walked by loops: at index i of the loops, the element whose index in dimension
// `dimension[l]` is `from` plus Σ step[l] · i[l]. A loop that leaves the array where it is has the dimension
// -1. No two loops move the same dimension.
struct Walk {
  Array array;
  std::array<std::int64_t, Dims::kMost> from{};  // by the array's dimensions
  std::array<int, Dims::kMost> dimension{-1, -1, -1, -1, -1, -1};
  std::array<std::int64_t, Dims::kMost> step{};  // by the loops

  // Each element of the array once: the loops are its dimensions.
  static Walk over(const Array& array);
  // Repeated along the dimensions that it lacks, or where it has one element (NumPy's broadcasting), so that
  // it goes along with an array of `dims`.
  static Walk along(const Array& array, const Dims& dims);
};

// Loops in which each array's place moves by a step: layouts are dissolved in them. Loops that can be one
// are.
struct LoopNest {
  static constexpr std::size_t kMostArrays = 4;
  static constexpr std::size_t kMostLoops = Dims::kMost + 2;  // two in blocks of channels count twice

  struct Loop {
    std::int64_t extent = 1;
    std::array<std::int64_t, kMostArrays> steps{};  // in elements
    bool operator==(const Loop&) const = default;
  };
  std::vector<Loop> loops;                        // outermost first; none for a single element
  std::array<std::int64_t, kMostArrays> first{};  // places at the start, in elements

  std::int64_t elements() const;
  // Whether each array is contiguous from its start: one row of memory.
  bool is_one_row(std::size_t arrays) const;
  bool operator==(const LoopNest&) const = default;
};

// The nests that walk all arrays over loops of these extents: several where blocks of channels do not meet or
// are not full. The loops of a nest are in the order in which array number `leading` lies in memory.
std::vector<LoopNest> nests(const Dims& extents, std::span<const Walk> walks, std::size_t leading = 0);

// The channel padding of an array, which is zero and stays it; nullopt where it has none.
std::optional<LoopNest> padding_of(const Array& array);

}  // namespace bench::kernels
