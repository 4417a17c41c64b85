// The extents of a value in a network, outermost first, before the batch is known; and how it is stored for
// a batch, a dtype and layouts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "bench/device.h"
#include "kernels/operations/array.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// One dimension's size: fixed, or for each sample of the batch.
struct Extent {
  std::int64_t size = 1;
  bool per_sample = false;

  constexpr Extent() = default;
  constexpr Extent(std::int64_t extent) : size(extent) {}  // NOLINT(google-explicit-constructor)
  constexpr Extent(std::int64_t extent, bool each) : size(extent), per_sample(each) {}

  std::int64_t at(std::int64_t batch) const { return per_sample ? size * batch : size; }
  bool operator==(const Extent&) const = default;
};

inline constexpr Extent kBatch{1, true};

// An image that a network reads: channels, height and width.
struct Image {
  std::int64_t c = 0;
  std::int64_t h = 1;
  std::int64_t w = 1;
};

// a · b of two counts; the largest integer where that is more.
inline std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

class Shape {
 public:
  static constexpr std::size_t kMostDims = 6;

  Shape() = default;
  // Throws std::logic_error beyond six dimensions.
  Shape(std::initializer_list<Extent> extents) {
    for (const Extent& extent : extents) {
      append(extent);
    }
  }
  // The usual three, the batch outermost.
  static Shape maps(std::int64_t channels, std::int64_t height, std::int64_t width) {
    return {kBatch, channels, height, width};
  }
  static Shape sequence(std::int64_t length, std::int64_t features) { return {kBatch, length, features}; }
  static Shape features(std::int64_t count) { return {kBatch, count}; }

  void append(const Extent& extent) {
    if (rank_ == kMostDims) {
      throw std::logic_error("a value has at most six dimensions");
    }
    extents_[rank_++] = extent;
  }

  std::size_t rank() const { return rank_; }
  const Extent& operator[](std::size_t dimension) const { return extents_.at(dimension); }
  Extent& operator[](std::size_t dimension) { return extents_.at(dimension); }

  std::int64_t elements(std::int64_t batch = 1) const { return product(0, rank_, batch); }

  // The dimension that the batch multiplies; nullopt where none does.
  std::optional<std::size_t> batch_dimension() const {
    const auto at = std::ranges::find(extents_, true, &Extent::per_sample);
    return at == extents_.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(at - extents_.begin()));
  }
  // In how many a sample lies in memory: as many as the dimensions before the batch have elements.
  std::int64_t pieces_of_sample() const { return product(0, batch_dimension().value_or(0)); }
  // How operations see a shape: see tensor.h. Up to rank 3 channels come last, from rank 4 on after the
  // first dimension.
  std::size_t channel_dimension() const { return rank_ > 3 ? 1 : rank_ == 0 ? 0 : rank_ - 1; }
  std::int64_t channels() const { return rank_ == 0 ? 1 : extents_[channel_dimension()].size; }
  // Length of a row: the last dimension, or the channels of single-pixel maps.
  std::int64_t features() const { return is_flat() ? channels() : extents_.at(rank_ - 1).size; }
  std::int64_t height() const { return rank_ == 3 ? extents_[1].size : rank_ > 3 ? extents_[2].size : 1; }
  std::int64_t width() const { return product(3, rank_); }
  // Whether no dimension from `first` on depends on the batch.
  bool is_fixed_from(std::size_t first) const {
    const auto from = std::span(extents_).subspan(std::min(first, kMostDims));
    return std::ranges::none_of(from, &Extent::per_sample);
  }
  bool is_maps() const { return rank_ == 4 && is_fixed_from(1); }
  bool is_sequence() const { return rank_ == 3 && is_fixed_from(1); }
  // Features without a place: also maps of a single pixel.
  bool is_flat() const {
    return (rank_ == 2 && is_fixed_from(1)) || (is_maps() && height() == 1 && width() == 1);
  }
  // Rows of a last dimension that does not depend on the batch. Rank 4 is maps, whose rows are pixels.
  bool is_rows() const { return is_flat() || (rank_ > 0 && rank_ != 4 && is_fixed_from(rank_ - 1)); }
  Image image() const { return {channels(), height(), width()}; }

  std::string text() const;  // "batch x 3 x 224 x 224"

  bool operator==(const Shape&) const = default;

 private:
  std::int64_t product(std::size_t first, std::size_t last, std::int64_t batch = 1) const {
    std::int64_t count = 1;
    for (std::size_t i = first; i < last; ++i) {
      count *= extents_[i].at(batch);
    }
    return count;
  }

  std::array<Extent, kMostDims> extents_{};  // those after the rank are 1
  std::size_t rank_ = 0;
};

// A layer whose output would be smaller than one pixel. The message names the layer and its input.
class ShapeTooSmall : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// In which layouts a network's activations are stored: a choice of the device's kind.
struct NetworkLayouts {
  Layout image = Layout::nhwc;  // of the input batch, with few channels
  Layout inner = Layout::nhwc;  // of every other activation
};

// The device's preference; NHWC throughout where it has none, as CUDA, whose libraries' tensor core kernels
// read and write it in every dtype.
NetworkLayouts layouts_for(const Device& device, Dtype dtype);

struct Target {
  std::int64_t batch = 1;
  Dtype dtype = Dtype::fp32;
  NetworkLayouts layouts;
  std::string implementation;  // empty: the device's best
};

// A value in memory, as operations see it.
struct StoredValue {
  TensorDesc tensor;
  // The maps, n = 1, that were flattened into these features, which keep their order and padding.
  std::optional<TensorDesc> flattened{};
  // Stored as the network's input is, which the first layers read as it is.
  bool as_input = false;
  // False where flattened maps keep another order than channels, rows, columns, or padding between them.
  bool is_in_shape_order() const {
    return !flattened || flattened->layout == Layout::nchw ||
           (flattened->h * flattened->w == 1 && flattened->c == tensor.c);
  }
};

// A shape folded into n, c, h and w as tensor.h says. Only maps are stored in the given layout; every other
// shape lies in the order of its dimensions, the last one fastest.
TensorDesc stored_as(const Shape& shape, const Target& target, Layout maps = Layout::nhwc);

Dims dims_of(const Shape& shape, std::int64_t batch);
// A stored value by its dimensions; one that is in the order of its shape.
Array array_of(const Shape& shape, const StoredValue& value, std::int64_t batch);
// The flattened maps of a whole batch.
Array flattened_maps(const StoredValue& value);

}  // namespace bench::kernels
