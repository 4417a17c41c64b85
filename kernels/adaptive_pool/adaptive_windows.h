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

}  // namespace bench::kernels
