// A card's condition from NVIDIA's management library (NVML). The library comes with the driver and is
// opened at run time: where it is missing, the condition is unknown and nothing else changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"

namespace bench::kernels::cuda {

// The bits of NVML's mask that mean the card was throttled, by name: "sw_power_cap", "hw_slowdown", … An idle
// card, clocks that somebody set, and a display's clock are no throttling. A bit without a name here is
// "nvml_bit_N".
std::vector<std::string> throttle_reasons(std::uint64_t mask);

struct CardLink {
  int generation = 0;
  int width = 0;  // lanes
};

// In MHz; absent where the card does not report one.
struct Clocks {
  std::optional<double> sm;
  std::optional<double> sm_max;
  std::optional<double> memory;
  std::optional<double> memory_max;
};

class CardMonitor {
 public:
  CardMonitor() = default;
  CardMonitor(const CardMonitor&) = delete;
  CardMonitor& operator=(const CardMonitor&) = delete;
  virtual ~CardMonitor() = default;

  // At this moment; takes less than a millisecond. Values that the card does not report are absent.
  virtual DeviceState state() = 0;
  // As it runs now: an idle card lowers its generation.
  virtual std::optional<CardLink> link() = 0;
  virtual std::optional<CardLink> best_link() = 0;          // that card and slot can do together
  virtual std::optional<std::string> driver_version() = 0;  // "580.82.07"
  virtual std::optional<double> power_limit_w() = 0;
  virtual Clocks clocks() = 0;  // as they are now: an idle card lowers them
};

// nullptr where the library or the card in it is not to be had.
std::unique_ptr<CardMonitor> open_nvml(const std::string& pci_bus_id,
                                       const std::string& library = "libnvidia-ml.so.1");

}  // namespace bench::kernels::cuda
