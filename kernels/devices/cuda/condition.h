// A card's condition while it works: read at intervals during the steps, and summed up until the next take().
//
// NVML gives the throttle reasons of the moment only. Not shown: throttling between two readings, or shorter
// than one reading.
#pragma once

#include <chrono>
#include <optional>

#include "bench/device.h"
#include "kernels/devices/cuda/nvml.h"

namespace bench::kernels::cuda {

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
