#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/devices/cuda/tf32_override.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct MatmulRate {
  std::int64_t size = 0;
  double flops_per_s = 0;
};

// A larger product comes closer to the peak, but a slow card would take seconds for it.
MatmulRate measure_matmul(CudaDevice& device, const Backend& backend, Dtype dtype) {
  constexpr std::int64_t kSmall = 4096;
  constexpr std::int64_t kLarge = 8192;
  constexpr double kFast = 30e12;  // FLOP/s: the large product takes less than 40 ms
  MatmulRate best;
  try {
    best = {kSmall, backend.matmul_rate(device, dtype, kSmall)};
    if (best.flops_per_s > kFast) {
      const double rate = backend.matmul_rate(device, dtype, kLarge);
      best = rate > best.flops_per_s ? MatmulRate{kLarge, rate} : best;
    }
  } catch (const OutOfMemory&) {  // the smaller product's rate is kept
  }
  return best;
}

struct CopyRate {
  std::int64_t bytes = 0;
  double bytes_per_s = 0;
};

CopyRate measure_copy(CudaDevice& device) {
  constexpr int kRuns = 10;
  for (std::int64_t bytes = 1024 * kMiB; bytes >= 64 * kMiB; bytes /= 2) {
    try {
      const UntrackedBlock from(device.allocator(), bytes);
      const UntrackedBlock to(device.allocator(), bytes);
      device.fill(from.data(), std::byte{0x5A}, bytes);
      std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
      for (int run = 0; run < kRuns; ++run) {
        best_ns = std::min(best_ns, device.time([&] { device.copy_within(to.data(), from.data(), bytes); }));
      }
      if (best_ns > 0) {
        return {bytes, 2e9 * static_cast<double>(bytes) / static_cast<double>(best_ns)};
      }
    } catch (const OutOfMemory&) {  // a smaller one may do
    }
  }
  return {};
}

}  // namespace

Peaks measure_peaks(CudaDevice& device, const Backend& backend, Dtype dtype) {
  // A product in another dtype would be no peak of this one.
  const auto otherwise = libraries_compute_otherwise(device, dtype);
  const MatmulRate matmul = otherwise ? MatmulRate{} : measure_matmul(device, backend, dtype);
  const CopyRate copy = measure_copy(device);
  device.drop_caches();
  const std::string product =
      matmul.flops_per_s > 0 ? fmt::format("cuBLASLt matmul {0}x{0}x{0} {1}", matmul.size, name_of(dtype))
      : otherwise            ? fmt::format("no matmul: {}", *otherwise)
                             : "no memory was left for a matmul";
  const std::string moved = copy.bytes_per_s > 0
                                ? fmt::format("copy of {} MiB within the card", copy.bytes / kMiB)
                                : "no memory was left for a copy";
  return {.flops_per_s = matmul.flops_per_s,
          .bytes_per_s = copy.bytes_per_s,
          .source = fmt::format("measured: {}, {}", product, moved)};
}

}  // namespace bench::kernels::cuda
