// Sliding windows (convolution, pooling): their sizes, and how one meets the edges of its input.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench::kernels {

// A number for rows (h) and one for columns (w); where one is given, it is both.
struct PerAxis {
  std::int64_t h = 1;
  std::int64_t w = 1;

  constexpr PerAxis(std::int64_t both) : h(both), w(both) {}  // NOLINT(google-explicit-constructor)
  constexpr PerAxis(std::int64_t rows, std::int64_t columns) : h(rows), w(columns) {}
  bool operator==(const PerAxis&) const = default;
};

// Pixels of padding on each side of a map.
struct Padding {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t bottom = 0;
  std::int64_t right = 0;

  constexpr Padding(std::int64_t all)  // NOLINT(google-explicit-constructor)
      : top(all), left(all), bottom(all), right(all) {}
  constexpr Padding(std::int64_t rows, std::int64_t columns)
      : top(rows), left(columns), bottom(rows), right(columns) {}
  constexpr Padding(std::int64_t above, std::int64_t before, std::int64_t below, std::int64_t behind)
      : top(above), left(before), bottom(below), right(behind) {}
  bool operator==(const Padding&) const = default;
};

// One axis of a window.
struct WindowAxis {
  std::int64_t in = 1;   // elements of the input
  std::int64_t out = 1;  // positions of the window
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t dilation = 1;

  // The input element that tap `k` of window `o` reads; outside [0, in) it is padding.
  std::int64_t at(std::int64_t o, std::int64_t k) const { return o * stride - pad + k * dilation; }

  // Rows or columns that the window spans.
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }

  // Whether each window reads a real input.
  bool each_reads() const {
    if (dilation == 1) {
      return pad < kernel && at(out - 1, 0) < in;
    }
    for (std::int64_t o = 0; o < out; ++o) {
      const std::int64_t first = at(o, 0) >= 0 ? 0 : (-at(o, 0) + dilation - 1) / dilation;
      if (first >= kernel || at(o, first) >= in) {
        return false;
      }
    }
    return true;
  }

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
