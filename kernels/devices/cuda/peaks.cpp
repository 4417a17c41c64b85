#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/stats/random.h"
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

// The best of a few runs of some milliseconds each, on every multiprocessor, of numbers that are not zero: a
// card does zeros with less power, and so with higher clocks. 0 without memory.
double measure_multiply_adds(CudaDevice& device, const Backend& backend, Dtype dtype) {
  const bool is_tensor_cores = bytes_of(dtype) == 2;
  const std::int64_t elements = std::int64_t{1} << (is_tensor_cores ? 24 : 22);
  const std::int64_t steps = std::int64_t{1} << (is_tensor_cores ? 10 : 14);
  constexpr int kRuns = 4;
  // Of either sign; below 1 in every dtype.
  std::vector<std::uint16_t> halves(std::size_t{1} << 16);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(0x3800U | (stream_seed(0, i) & 0x83FFU));
  }
  const auto drawn = static_cast<std::int64_t>(halves.size() * sizeof(halves[0]));
  const std::int64_t bytes = elements * bytes_of(dtype);
  try {
    const UntrackedBlock block(device.allocator(), 2 * bytes);
    device.upload(block.data(), halves.data(), drawn);
    device.repeat(block.data(), drawn, bytes);
    double best = 0;
    for (int run = 0; run < kRuns; ++run) {
      double flops = 0;
      const std::int64_t ns =
          device.time([&] { flops = backend.multiply_add(device, dtype, block.data(), elements, steps); });
      best = std::max(best, ns > 0 ? 1e9 * flops / static_cast<double>(ns) : 0);
    }
    return best;
  } catch (const OutOfMemory&) {
    return 0;
  }
}

// The faster of a matrix product and multiply-adds that wait for no memory: in 16 bits on tensor cores, else
// in registers. A product is expected to reach 75 to 90 % of the data sheet's rate and the multiply-adds
// 95 %: a product's inner loop also reads shared memory. On compute capability 9.0 the product wins in 16
// bits, by an instruction that the multiply-adds do not have.
// `otherwise`: why a product would be no peak of this dtype; then none is known.
Arithmetic measure_arithmetic(CudaDevice& device, const Backend& backend, Dtype dtype,
                              const std::optional<std::string>& otherwise) {
  if (otherwise) {
    return {0, fmt::format("no matmul: {}", *otherwise)};
  }
  const MatmulRate matmul = measure_matmul(device, backend, dtype);
  const double multiply_adds = measure_multiply_adds(device, backend, dtype);
  if (multiply_adds > matmul.flops_per_s) {
    return {multiply_adds,
            fmt::format("multiply-adds {} {}", bytes_of(dtype) == 2 ? "on tensor cores" : "in registers",
                        name_of(dtype))};
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
