#include "kernels/devices/cpu/peaks.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "bench/host/interrupt.h"
#include "kernels/backends/onednn/onednn.h"
#include "kernels/devices/cpu/memory.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {
namespace {

// The shortest of as many runs as fit into 150 ms (three at least), after one to warm up, in seconds. One run
// is enough for a program that was interrupted.
template <class Step>
double best_time(const Clock& clock, Step step) {
  constexpr double kForNs = 150e6;
  step();
  double best = std::numeric_limits<double>::infinity();
  const auto begin = clock.now();
  for (int runs = 0; runs == 0 || (!interrupted() && (runs < 3 || clock.since_ns(begin) < kForNs)); ++runs) {
    const auto start = clock.now();
    step();
    best = std::min(best, clock.since_ns(start) / 1e9);
  }
  return best;
}

double matmul_rate(Device& device, Dtype dtype, std::int64_t size, const Clock& clock) {
  const Linear spec{.rows = size, .inner = size, .columns = size, .packed = true, .dtype = dtype};
  const auto product = make_operation(spec, device, "onednn");
  product->prepare();
  std::vector<float> values(static_cast<std::size_t>(size * size));
  fill_random(values, 1, 0);
  std::vector<CpuBlock> blocks;
  SlotPointers pointers;
  for (const SlotInfo& slot : product->slots()) {
    std::byte* data = blocks.emplace_back(cpu_block(slot.bytes)).get();
    pointers[slot.slot] = data;
    if (slot.role == Role::parameter) {
      product->pack(slot.slot, values, data);
    } else if (slot.role == Role::input) {
      store(slot.tensor, values, data);
    }
  }
  return spec.flops() / best_time(clock, [&] { product->run(pointers); });
}

double copy_rate(std::int64_t bytes, const Clock& clock) {
  const CpuBlock from = cpu_block(bytes);
  const CpuBlock to = cpu_block(bytes);
  const auto copy = [&] {
    const std::int64_t parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = bytes * part / parts;
      const std::int64_t end = bytes * (part + 1) / parts;
      std::memcpy(to.get() + begin, from.get() + begin, static_cast<std::size_t>(end - begin));
    }
  };
  // Written first: untouched pages are all the same page of zeros, which would be read from the cache.
  std::memset(from.get(), 1, static_cast<std::size_t>(bytes));
  return 2.0 * static_cast<double>(bytes) / best_time(clock, copy);
}

}  // namespace

Peaks measure_cpu_peaks(Device& device, Dtype dtype, std::int64_t available_bytes, const Clock& clock) {
  constexpr std::int64_t kMatrix = 1024;
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  // Two buffers together four times the last cache: what stays in it between copies hardly counts. Bounded,
  // because virtual machines report caches that are not theirs.
  const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const std::int64_t wanted = std::clamp(2 * cache, 128 * kMiB, 256 * kMiB);
  const std::int64_t buffer = std::clamp(available_bytes / 8, kMiB, wanted);
  return {.flops_per_s = matmul_rate(device, dtype, kMatrix, clock),
          .bytes_per_s = copy_rate(buffer, clock),
          .source = fmt::format("measured: oneDNN {} matmul {}x{}x{} {}, copy of {} MiB", onednn::version(),
                                kMatrix, kMatrix, kMatrix, name_of(dtype), buffer / kMiB)};
}

}  // namespace bench::kernels
