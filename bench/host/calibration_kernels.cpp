#include "bench/host/calibration_kernels.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace bench {
namespace {

constexpr std::size_t kRuns = 5;
constexpr std::size_t kCopied = std::size_t{1} << 20U;  // bytes
constexpr int kProducts = 60'000;                       // of each chain: 0.2 ms at 2.5 GHz

// Keeps the compiler from merging or vectorising chains, and a chain in a register: in memory it took twice
// as long in one build as in another, by where the stack lay.
void keep(std::uint64_t& chain) {
  asm volatile("" : "+r"(chain));  // NOLINT(hicpp-no-assembler)
}

// Eight chains: a product takes several cycles, and the processor begins one each cycle.
std::uint64_t multiply() {
  constexpr std::uint64_t kFactor = 6364136223846793005;
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;  // NOLINT
  for (int i = 0; i < kProducts; ++i) {
    keep(a *= kFactor);
    keep(b *= kFactor);
    keep(c *= kFactor);
    keep(d *= kFactor);
    keep(e *= kFactor);
    keep(f *= kFactor);
    keep(g *= kFactor);
    keep(h *= kFactor);
  }
  return a + b + c + d + e + f + g + h;
}

template <class Work>
double median_ns(const Clock& clock, const Work& work) {
  std::array<double, kRuns> times{};
  for (std::size_t run = 0; run < kRuns; ++run) {
    const Clock::time_point start = clock.now();
    work(run);
    times.at(run) = clock.since_ns(start);
  }
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return times[kRuns / 2];
}

}  // namespace

HostCalibrationKernels::HostCalibrationKernels() : memory_(2 * kRuns * kCopied, std::byte{1}) {}

Calibration HostCalibrationKernels::run(const Clock& clock) {
  volatile std::uint64_t kept = 0;
  const double arithmetic_ns = median_ns(clock, [&](std::size_t /*run*/) { kept = multiply(); });
  const double copy_ns = median_ns(clock, [&](std::size_t run) {
    std::byte* const from = memory_.data() + 2 * run * kCopied;
    std::memcpy(from + kCopied, from, kCopied);
    asm volatile("" : : "r"(from) : "memory");  // NOLINT(hicpp-no-assembler)
  });
  return {.arithmetic_ns = arithmetic_ns, .copy_ns = copy_ns};
}

}  // namespace bench
