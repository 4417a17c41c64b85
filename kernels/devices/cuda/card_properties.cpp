#include "kernels/devices/cuda/card_properties.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <nlohmann/json.hpp>

#include "bench/json.h"

namespace bench::kernels::cuda {
namespace {

struct Limits {
  int capability;
  int shared_bytes;  // that a block may ask for
  int reserved_shared_bytes;
  int blocks;  // on a multiprocessor
  int threads;
  int flops_per_clock;    // of its fp32 cores, two for a multiply-add
  std::int64_t l2_bytes;  // of the generation's smaller cards
};
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::array<Limits, 9> kLimits{{
    {75, 65536, 0, 16, 1024, 128, 4 * kMebibyte},
    {80, 166912, 1024, 32, 2048, 128, 40 * kMebibyte},
    {86, 101376, 1024, 16, 1536, 256, 3 * kMebibyte},
    {87, 166912, 1024, 16, 1536, 256, 4 * kMebibyte},
    {89, 101376, 1024, 24, 1536, 256, 32 * kMebibyte},
    {90, 232448, 1024, 32, 2048, 256, 50 * kMebibyte},
    {100, 232448, 1024, 32, 2048, 256, 126 * kMebibyte},
    {110, 232448, 1024, 24, 1536, 256, 32 * kMebibyte},
    {120, 101376, 1024, 24, 1536, 256, 48 * kMebibyte},
}};

const Limits& limits_of(int capability) {
  const auto* const above = std::ranges::upper_bound(kLimits, capability, {}, &Limits::capability);
  return above == kLimits.begin() ? kLimits.front() : *std::prev(above);
}

// A usual clock of the memory's kind: data sheets give its bandwidth, and no plan depends on it.
std::int64_t memory_clock_khz(std::string_view kind) {
  return kind.starts_with("hbm") ? 1'600'000 : kind.starts_with("gddr") ? 7'000'000 : 3'200'000;
}

}  // namespace

std::string cudnn_properties(const Gpu& gpu) {
  constexpr int kMostThreads = 1024;
  constexpr int kRegisters = 65536;
  const Limits& limits = limits_of(gpu.compute_capability);
  const double clock_hz =
      gpu.flops_per_s.at(Dtype::fp32) / (1.0 * gpu.multiprocessors * limits.flops_per_clock);
  // Driver, PCI and device number only say that there is one.
  const Json properties = {{"deviceVer", 10 * gpu.compute_capability},
                           {"multiProcessorCount", gpu.multiprocessors},
                           {"warpSize", 32},
                           {"maxSharedMemoryPerBlock", 49152},
                           {"maxSharedMemoryPerBlockOptin", limits.shared_bytes},
                           {"reservedSharedMemoryPerBlock", limits.reserved_shared_bytes},
                           {"maxRegistersPerSM", kRegisters},
                           {"maxCtasPerSM", limits.blocks},
                           {"maxThreadsPerBlock", kMostThreads},
                           {"maxThreadsPerSM", limits.threads},
                           {"regsPerBlock", kRegisters},
                           {"totalGlobalMem", gpu.memory_bytes},
                           {"smClockRateKHz", std::llround(clock_hz / 1e3)},
                           {"l2CacheSize", gpu.l2_bytes > 0 ? gpu.l2_bytes : limits.l2_bytes},
                           {"maxBlockSize", {kMostThreads, kMostThreads, 64}},
                           {"memClockRateKHz", memory_clock_khz(gpu.memory_kind)},
                           {"maxGridSize", {2147483647, 65535, 65535}},
                           {"supportCoopLaunch", 1},
                           {"pciDeviceId", 0},
                           {"isTccDriver", 0},
                           {"cudaDeviceId", 0},
                           {"driverVer", 13000},
                           {"deviceName", display_name(gpu)}};
  return properties.dump();
}

}  // namespace bench::kernels::cuda
