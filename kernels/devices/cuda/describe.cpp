#include "kernels/devices/cuda/describe.h"

#include <cstdlib>

#include <fmt/format.h>

#include "kernels/devices/cuda/tf32_override.h"

namespace bench::kernels::cuda {
namespace {

// NVML knows the driver's own number; without it there is the newest CUDA it serves.
std::string driver_text(Runtime& runtime, CardMonitor* monitor) {
  if (monitor != nullptr) {
    if (const auto version = monitor->driver_version()) {
      return *version;
    }
  }
  int newest = 0;
  runtime.check(runtime.driver_version(newest), "cudaDriverGetVersion");
  return fmt::format("for CUDA {}", version_text(newest));
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

DeviceInfo describe(Runtime& runtime, const CardProperties& card, int ordinal, CardMonitor* monitor,
                    const std::map<std::string, std::string>& libraries) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  runtime.check(runtime.memory_info(free_bytes, total_bytes), "cudaMemGetInfo");
  int toolkit = 0;
  runtime.check(runtime.runtime_version(toolkit), "cudaRuntimeGetVersion");

  DeviceInfo info{.id = fmt::format("cuda:{}", ordinal),
                  .kind = "cuda",
                  .name = card.name,
                  .memory_bytes = card.memory_bytes,
                  .available_bytes = static_cast<std::int64_t>(free_bytes),
                  .compute_units = card.multiprocessors,
                  .details = libraries};
  info.details["compute_capability"] = fmt::format("{}.{}", card.major, card.minor);
  info.details["uuid"] = card.uuid;
  info.details["pci_bus_id"] = card.pci_bus_id;
  info.details["l2_bytes"] = fmt::format("{}", card.l2_bytes);
  info.details["cuda"] = version_text(toolkit);
  info.details["driver"] = driver_text(runtime, monitor);
  if (monitor != nullptr) {
    const Clocks clocks = monitor->clocks();
    const auto add = [&](const char* name, const std::optional<double>& mhz) {
      if (mhz) {
        info.details[name] = fmt::format("{:.0f}", *mhz);
      }
    };
    add("clocks.sm_mhz", clocks.sm);
    add("clocks.sm_max_mhz", clocks.sm_max);
    add("clocks.memory_mhz", clocks.memory);
    add("clocks.memory_max_mhz", clocks.memory_max);
  }
  if (const char* const tf32 = std::getenv(kTf32Override); tf32 != nullptr && *tf32 != '\0') {
    info.details[kTf32OverrideDetail] = tf32;
  }
  if (const auto limit = monitor == nullptr ? std::nullopt : monitor->power_limit_w()) {
    info.details["power_limit_w"] = fmt::format("{:.0f}", *limit);
  }
  return info;
}

}  // namespace bench::kernels::cuda
