#include "bench/run/machine_watch.h"

#include <memory>
#include <utility>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/host/calibration_kernels.h"

namespace bench {

const Calibrations& Calibrator::read() {
  constexpr int kRest = 99;  // times the reading's own duration
  const Clock::time_point start = clock_.now();
  if (readings_ > 0 && start < next_) {
    return last_;
  }
  for (const auto& [processor, kernels] : kernels_) {
    last_[processor] = kernels();
  }
  ++readings_;
  const Clock::time_point end = clock_.now();
  next_ = end + kRest * (end - start);
  return last_;
}

void MachineWatch::describe(MeasuredRound& round) {
  if (const auto usage = usage_.read()) {
    round.steal = usage->stolen;
    round.other_cores = usage->others;
  }
  round.load = load_();
  round.calibration = calibrator_.read();
}

MachineWatch watch_machine(Device& device, const Clock& clock) {
  std::map<std::string, CalibrationKernels> kernels;
  const auto host = std::make_shared<HostCalibrationKernels>();
  kernels.emplace(kHostCalibration, [host, &clock] { return host->run(clock); });
  if (device.calibrate()) {  // its first is slower: the card's clock rises, and its code is loaded
    kernels.emplace(kDeviceCalibration, [&device, last = Calibration()]() mutable {
      last = device.calibrate().value_or(last);
      return last;
    });
  }
  return {Calibrator(std::move(kernels), clock), CpuUsageWatch(clock)};
}

}  // namespace bench
