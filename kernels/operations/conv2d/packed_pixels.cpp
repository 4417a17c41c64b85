#include "kernels/operations/conv2d/packed_pixels.h"

#include <map>
#include <utility>

namespace bench::kernels::packed {
namespace {

// The first tap along an axis that reads the map, and the first after it that does not.
std::pair<std::int64_t, std::int64_t> taps_inside(const WindowAxis& axis, std::int64_t at) {
  std::int64_t first = 0;
  while (first < axis.kernel && axis.at(at, first) < 0) {
    ++first;
  }
  std::int64_t end = first;
  while (end < axis.kernel && axis.at(at, end) < axis.in) {
    ++end;
  }
  return {first, end};
}

}  // namespace

PixelOrder::PixelOrder(const Conv2d& spec)
    : spec_(spec),
      rows_{spec.height, spec.out_height(), spec.kernel_h, spec.stride_h, spec.pad_h, spec.dilation_h},
      columns_{spec.width, spec.out_width(), spec.kernel_w, spec.stride_w, spec.pad_w, spec.dilation_w} {
  using Taps = std::pair<std::int64_t, std::int64_t>;
  std::map<std::pair<Taps, Taps>, std::vector<std::int32_t>> by_taps;
  std::vector<Taps> across;
  for (std::int64_t x = 0; x < columns_.out; ++x) {
    across.push_back(taps_inside(columns_, x));
  }
  for (std::int64_t y = 0; y < rows_.out; ++y) {
    const Taps down = taps_inside(rows_, y);
    for (std::int64_t x = 0; x < columns_.out; ++x) {
      by_taps[{down, across[x]}].push_back(static_cast<std::int32_t>(y * columns_.out + x));
    }
  }
  for (const auto& [taps, pixels] : by_taps) {
    classes_.push_back({.first = static_cast<std::int64_t>(pixels_.size()),
                        .count = static_cast<std::int64_t>(pixels.size())});
    pixels_.insert(pixels_.end(), pixels.begin(), pixels.end());
  }
}

void PixelOrder::find(std::int64_t first, std::int64_t count, const float* src, const float* padding,
                      const float** inputs, std::int64_t* places) const {
  std::int64_t behind = 0;  // pixels of earlier classes, of all samples
  std::int64_t i = 0;
  for (const Class& one : classes_) {
    const std::int64_t end = behind + one.count * spec_.batch;
    for (; i < count && first + i < end; ++i) {
      const std::int64_t index = first + i - behind;
      const std::int64_t n = index / one.count;
      const std::int64_t pixel = pixels_[one.first + index % one.count];
      places[i] = (n * static_cast<std::int64_t>(pixels_.size()) + pixel) * spec_.out_channels;
      find_inputs(n, pixel, src, padding, inputs + i, count);
    }
    behind = end;
  }
}

void PixelOrder::find_inputs(std::int64_t n, std::int64_t pixel, const float* src, const float* padding,
                             const float** inputs, std::int64_t step) const {
  for (std::int64_t r = 0; r < rows_.kernel; ++r) {
    const std::int64_t row = rows_.at(pixel / columns_.out, r);
    const bool inside = row >= 0 && row < rows_.in;
    for (std::int64_t s = 0; s < columns_.kernel; ++s, inputs += step) {
      const std::int64_t column = columns_.at(pixel % columns_.out, s);
      *inputs = inside && column >= 0 && column < columns_.in
                    ? src + ((n * rows_.in + row) * columns_.in + column) * spec_.in_channels
                    : padding;
    }
  }
}

}  // namespace bench::kernels::packed
