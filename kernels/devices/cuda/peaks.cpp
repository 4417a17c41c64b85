#include <algorithm>
#include <limits>
#include <optional>
#include <string>

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

struct Arithmetic {
  double flops_per_s = 0;
  std::string source;
};

// The best of a few runs of some milliseconds each, on every multiprocessor; 0 without memory.
double measure_chains(CudaDevice& device, const Backend& backend) {
  constexpr std::int64_t kElements = std::int64_t{1} << 22;
  constexpr std::int64_t kSteps = std::int64_t{1} << 14;
  constexpr int kRuns = 4;
  try {
    const UntrackedBlock block(device.allocator(), kElements * bytes_of(Dtype::fp32));
    device.fill(block.data(), std::byte{0}, kElements * bytes_of(Dtype::fp32));
    std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
    for (int run = 0; run < kRuns; ++run) {
      best_ns = std::min(best_ns,
                         device.time([&] { backend.multiply_add(device, block.data(), kElements, kSteps); }));
    }
    return best_ns > 0 ? 2e9 * static_cast<double>(kElements * kSteps) / static_cast<double>(best_ns) : 0;
  } catch (const OutOfMemory&) {
    return 0;
  }
}

// In fp32 the faster of a matrix product and multiply-adds in registers. A product is expected to reach 75 to
// 85 % of the data sheet's rate and the multiply-adds 95 %: a product's inner loop also reads shared memory.
// `otherwise`: why a product would be no peak of this dtype; then none is known.
Arithmetic measure_arithmetic(CudaDevice& device, const Backend& backend, Dtype dtype,
                              const std::optional<std::string>& otherwise) {
  if (otherwise) {
    return {0, fmt::format("no matmul: {}", *otherwise)};
  }
  const MatmulRate matmul = measure_matmul(device, backend, dtype);
  const double chains = dtype == Dtype::fp32 ? measure_chains(device, backend) : 0;
  if (chains > matmul.flops_per_s) {
    return {chains, "multiply-adds in registers fp32"};
  }
  return {matmul.flops_per_s,
          matmul.flops_per_s > 0 ? fmt::format("cuBLASLt matmul {0}x{0}x{0} {1}", matmul.size, name_of(dtype))
                                 : "no memory was left for a matmul"};
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
  const Arithmetic arithmetic =
      measure_arithmetic(device, backend, dtype, libraries_compute_otherwise(device, dtype));
  const CopyRate copy = measure_copy(device);
  device.drop_caches();
  const std::string moved = copy.bytes_per_s > 0
                                ? fmt::format("copy of {} MiB within the card", copy.bytes / kMiB)
                                : "no memory was left for a copy";
  return {.flops_per_s = arithmetic.flops_per_s,
          .bytes_per_s = copy.bytes_per_s,
          .source = fmt::format("measured: {}, {}", arithmetic.source, moved)};
}

}  // namespace bench::kernels::cuda
