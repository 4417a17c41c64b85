// Which inputs each output of an adaptive pooling averages, along one axis.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/adaptive_pool/adaptive_pool.h"

namespace bench::kernels {

struct AdaptiveWindow {
  std::int64_t first, last;  // half open
  std::int64_t size() const { return last - first; }
};

inline std::vector<AdaptiveWindow> adaptive_windows(std::int64_t in, std::int64_t out) {
  std::vector<AdaptiveWindow> windows;
  windows.reserve(static_cast<std::size_t>(out));
  for (std::int64_t i = 0; i < out; ++i) {
    windows.push_back({i * in / out, ((i + 1) * in + out - 1) / out});
  }
  return windows;
}

// Inputs that all outputs of a plane average together, those of several windows counted for each.
inline std::int64_t inputs_averaged(const std::vector<AdaptiveWindow>& rows,
                                    const std::vector<AdaptiveWindow>& columns) {
  std::int64_t high = 0;
  std::int64_t wide = 0;
  for (const AdaptiveWindow& row : rows) {
    high += row.size();
  }
  for (const AdaptiveWindow& column : columns) {
    wide += column.size();
  }
  return high * wide;
}

}  // namespace bench::kernels
