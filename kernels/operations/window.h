// How a sliding window (convolution, pooling) meets the edges of its input, along one axis.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench::kernels {

struct WindowAxis {
  std::int64_t in = 1;   // elements of the input
  std::int64_t out = 1;  // positions of the window
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t dilation = 1;

  // The input element that tap `k` of window `o` reads; outside [0, in) it is padding.
  std::int64_t at(std::int64_t o, std::int64_t k) const { return o * stride - pad + k * dilation; }

  // Taps over all windows that read real inputs.
  // For tap k these are the windows with 0 ≤ at(o, k) ≤ in − 1, which lie side by side.
  std::int64_t real_taps() const {
    std::int64_t taps = 0;
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t offset = pad - k * dilation;  // at(o, k) = o · stride − offset
      const std::int64_t first = offset <= 0 ? 0 : (offset + stride - 1) / stride;
      const std::int64_t beyond = in - 1 + offset < 0 ? 0 : (in - 1 + offset) / stride + 1;
      taps += std::max<std::int64_t>(0, std::min(out, beyond) - first);
    }
    return taps;
  }
};

}  // namespace bench::kernels
