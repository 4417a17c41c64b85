// A card's condition from NVIDIA's management library (NVML), and its readings while the card works. The
// library comes with the driver and is opened at run time: where it is missing, the condition is unknown and
// nothing else changes.
#pragma once

#include <chrono>
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

// The condition while the card works: read at intervals during the steps, and summed up until the next
// take().
//
// NVML gives the throttle reasons of the moment only. Not shown: throttling between two readings, or shorter
// than one reading.
class ConditionWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A reading takes up to a millisecond of the host: 5 % of the time at most.
  static constexpr std::chrono::milliseconds kEvery{20};

  // `monitor` outlives the watch; nullptr: nothing is known.
  explicit ConditionWatch(CardMonitor* monitor) : monitor_(monitor) {}

  // While the card works: reads unless the last reading since take() is younger than kEvery.
  void while_working(Time now);
  // Clock, temperature and power as last read while the card worked, else as they are; the reasons of all
  // readings since the last call, and of one now.
  DeviceState take();

 private:
  CardMonitor* monitor_;
  std::optional<DeviceState> seen_;
  Time read_{};
};

}  // namespace bench::kernels::cuda
