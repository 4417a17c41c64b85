// A value whose elements are known when the network is imported: shapes, indices, masks, factors.
//
// The elements are those of one sample. Along a dimension that depends on the batch, every sample has the
// same; an element that is itself a size may be a multiple of the batch: Shape(x)[0] is 1 · batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/networks/graph/shape.h"
#include "kernels/networks/onnx/constants/compact_numbers.h"
#include "kernels/networks/onnx/constants/number.h"
#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

using Extents = std::vector<Extent>;  // of any rank

// Elements of one sample. Throws Refused where they are too many to count.
std::int64_t elements_of(const Extents& dims);

struct Constant {
  ElementType type = ElementType::i64;
  Extents dims;
  // In order, the last dimension fastest; a single one is that of every element. Integers beyond 2^53 are
  // rounded, which only limits like INT64_MAX reach.
  CompactNumbers values;
  std::vector<double> per_batch{};  // as many as values, or none: 0
  // How much elements grow from a sample to the next, as those of Range(0, batch): they may only be used as
  // indices of samples. 0: they are alike; not a number: they change in another way. Of several joined to
  // rows, that of those which grow.
  double sample_step = 0;

  std::int64_t elements() const { return elements_of(dims); }
  bool counts_samples() const { return sample_step != 0; }
  bool is_uniform() const { return values.size() == 1; }
  // What the budget counts of it.
  std::int64_t held() const {
    constexpr std::size_t kBytes = 4;
    return is_uniform() ? 0 : static_cast<std::int64_t>(values.bytes() / kBytes);
  }
  double value(std::int64_t i) const { return values[is_uniform() ? 0 : static_cast<std::size_t>(i)]; }
  Number number(std::int64_t i) const {
    const std::size_t at = is_uniform() ? 0 : static_cast<std::size_t>(i);
    return {values[at], per_batch.empty() ? 0 : per_batch[at]};
  }
  void append(const Number& number);

  // As integers. Throws Refused where one depends on the batch; those beyond the type are its limits.
  std::vector<std::int64_t> wholes() const;
  std::int64_t whole() const;  // of the only element

  static Constant of(std::vector<std::int64_t> wholes);  // a vector of int64
  static Constant uniform(ElementType type, Extents dims, double value);
};

std::int64_t to_whole(double value);  // rounded towards zero, saturated

// How many elements of four bytes folding may make: for one constant, held at once, and in all, which bounds
// the time. Those held count by their bytes.
class Budget {
 public:
  static constexpr std::int64_t kMost = std::int64_t{5} << 20;       // 20 MiB
  static constexpr std::int64_t kMostHeld = std::int64_t{7} << 20;   // 28 MiB
  static constexpr std::int64_t kMostInAll = std::int64_t{3} << 24;  // some 0.2 s

  // Throws Refused beyond a bound.
  void take(std::int64_t elements);
  std::int64_t held() const { return held_; }
  void give_back(std::int64_t elements) { held_ -= elements; }

 private:
  std::int64_t held_ = 0;
  std::int64_t made_ = 0;
};

// The elements of a tensor of the file. External integers read as 0, booleans as true; nullptr for external
// floats and types without numbers.
std::shared_ptr<const Constant> constant_of(const Tensor& tensor, Budget& budget);

// One value where all elements are alike.
void compress(Constant& constant);

// An element of the result is the input's element at `from[i]`.
Constant picked(const Constant& input, Extents dims, const std::vector<std::int64_t>& from);

// Row-major steps of one sample's elements.
std::vector<std::int64_t> steps_of(const Extents& dims);

}  // namespace bench::kernels::onnx
