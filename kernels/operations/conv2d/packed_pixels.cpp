#include "kernels/operations/conv2d/packed_pixels.h"

#include <map>
#include <utility>

#include "kernels/operations/window.h"

namespace bench::kernels::packed {
namespace {

// The first tap along an axis that reads the map, and the first behind it that does not.
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

PixelOrder::PixelOrder(const Conv2d& spec) : spec_(spec) {
  const WindowAxis rows{spec.height,   spec.out_height(), spec.kernel_h,
                        spec.stride_h, spec.pad_h,        spec.dilation_h};
  const WindowAxis columns{spec.width,    spec.out_width(), spec.kernel_w,
                           spec.stride_w, spec.pad_w,       spec.dilation_w};
  using Taps = std::pair<std::int64_t, std::int64_t>;
  std::map<std::pair<Taps, Taps>, std::vector<std::int32_t>> by_taps;
  std::vector<Taps> across;
  for (std::int64_t x = 0; x < columns.out; ++x) {
    across.push_back(taps_inside(columns, x));
  }
  for (std::int64_t y = 0; y < rows.out; ++y) {
    const Taps down = taps_inside(rows, y);
    for (std::int64_t x = 0; x < columns.out; ++x) {
      by_taps[{down, across[x]}].push_back(static_cast<std::int32_t>(y * columns.out + x));
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
  const std::int64_t y = pixel / spec_.out_width();
  const std::int64_t x = pixel % spec_.out_width();
  for (std::int64_t r = 0; r < spec_.kernel_h; ++r) {
    const std::int64_t row = y * spec_.stride_h - spec_.pad_h + r * spec_.dilation_h;
    const bool inside = row >= 0 && row < spec_.height;
    const float* const line =
        inside ? src + (n * spec_.height + row) * spec_.width * spec_.in_channels : nullptr;
    std::int64_t column = x * spec_.stride_w - spec_.pad_w;
    for (std::int64_t s = 0; s < spec_.kernel_w; ++s, inputs += step, column += spec_.dilation_w) {
      *inputs = inside && column >= 0 && column < spec_.width ? line + column * spec_.in_channels : padding;
    }
  }
}

}  // namespace bench::kernels::packed
