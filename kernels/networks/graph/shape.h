// The extents of a value in a network, outermost first, before the batch is known.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

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

  std::int64_t elements(std::int64_t batch = 1) const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < rank_; ++i) {
      count *= extents_[i].at(batch);
    }
    return count;
  }

  // The dimension that the batch multiplies; nullopt where none does.
  std::optional<std::size_t> batch_dimension() const {
    for (std::size_t i = 0; i < rank_; ++i) {
      if (extents_[i].per_sample) {
        return i;
      }
    }
    return std::nullopt;
  }
  // How operations see a shape: see tensor.h. Up to rank 3 channels come last, from rank 4 on behind the
  // first dimension.
  std::size_t channel_dimension() const { return rank_ > 3 ? 1 : rank_ == 0 ? 0 : rank_ - 1; }
  std::int64_t channels() const { return rank_ == 0 ? 1 : extents_[channel_dimension()].size; }
  // Length of a row: the last dimension, or the channels of single-pixel maps.
  std::int64_t features() const { return is_flat() ? channels() : extents_.at(rank_ - 1).size; }
  std::int64_t height() const { return rank_ == 3 ? extents_[1].size : rank_ > 3 ? extents_[2].size : 1; }
  std::int64_t width() const {
    std::int64_t count = 1;
    for (std::size_t i = 3; i < rank_; ++i) {
      count *= extents_[i].size;
    }
    return count;
  }
  // Whether no dimension from `first` on depends on the batch.
  bool is_fixed_from(std::size_t first) const {
    for (std::size_t i = first; i < rank_; ++i) {
      if (extents_[i].per_sample) {
        return false;
      }
    }
    return true;
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
  std::array<Extent, kMostDims> extents_{};
  std::size_t rank_ = 0;
};

// A layer whose output would be smaller than one pixel. The message names the layer and its input.
class ShapeTooSmall : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bench::kernels
