// The machine while points are measured: after each repetition, how busy others kept it, and how fast its
// small fixed kernels run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/host/cpu_usage.h"
#include "bench/result/calibration.h"
#include "bench/result/result.h"

namespace bench {

// Runs the kernels of one processor.
using CalibrationKernels = std::function<Calibration()>;

// Readings at a pace: each is followed by 99 times its own duration without one, so that they take at most 1
// % of a run.
class Calibrator {
 public:
  // By the processor's name: "host", "device".
  Calibrator(std::map<std::string, CalibrationKernels> kernels, const Clock& clock)
      : kernels_(std::move(kernels)), clock_(clock) {}

  // The last reading, or a new one where its time has come.
  const Calibrations& read();
  std::int64_t readings() const { return readings_; }

 private:
  std::map<std::string, CalibrationKernels> kernels_;
  const Clock& clock_;
  Calibrations last_;
  std::int64_t readings_ = 0;
  Clock::time_point next_{};  // none before
};

class MachineWatch {
 public:
  MachineWatch(
      Calibrator calibrator, CpuUsageWatch usage,
      std::function<std::optional<double>()> load = [] { return load_average(); })
      : calibrator_(std::move(calibrator)), usage_(std::move(usage)), load_(std::move(load)) {}

  // Fills in what is known of the time since the round before. Call it outside of every time taken: it
  // empties the processor's caches.
  void describe(MeasuredRound& round);

 private:
  Calibrator calibrator_;
  CpuUsageWatch usage_;
  std::function<std::optional<double>()> load_;
};

// The machine's own: host, and device where it is another processor. The clock and the device outlive it.
MachineWatch watch_machine(Device& device, const Clock& clock);

}  // namespace bench
