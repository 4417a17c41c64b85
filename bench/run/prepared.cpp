#include "bench/run/prepared.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "bench/run/interrupt.h"

namespace bench {
namespace {

// One step touches every page; short steps go on until clocks and caches have settled. Where the first one
// chooses algorithms by timing them, that happens here, outside of every sample: it is no measure of a step,
// and another one follows however long it took.
constexpr std::int64_t kWarmUpStepsAtMost = 10;
constexpr double kWarmUpNs = 50e6;

double since_ns(std::chrono::steady_clock::time_point start) {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
}

// The median of the steps after the first, which touches the pages, or the first where there is no other;
// with what comes before every step, such as emptying the caches.
double warm_up(Workload& workload, Device& device, bool cold_caches) {
  std::vector<double> steps;
  const std::size_t least = device.first_step_tunes() ? 2 : 1;
  double total = 0;
  for (std::int64_t i = 0; i < kWarmUpStepsAtMost && !interrupted(); ++i) {
    if (total >= kWarmUpNs && steps.size() >= least) {
      break;
    }
    const auto start = std::chrono::steady_clock::now();
    if (cold_caches) {
      device.flush_caches();
    }
    workload.before_step();
    const double preparing = since_ns(start);
    const auto elapsed = preparing + static_cast<double>(workload.timed_step(device));
    steps.push_back(elapsed);
    total += elapsed;
  }
  if (steps.empty()) {
    return 0;
  }
  const auto from = steps.size() > 1 ? steps.begin() + 1 : steps.begin();
  const auto middle = from + (steps.end() - from) / 2;
  std::nth_element(from, middle, steps.end());
  return *middle;
}

PointMemory memory_of(Device& device, std::int64_t used_before) {
  PointMemory memory;
  memory.by_category = device.memory().at_peak();
  memory.peak_measured = device.memory().peak();
  memory.driver_used = std::max<std::int64_t>(0, device.driver_used() - used_before);
  // Libraries' own allocations, compiled code and allocator slack: seen by the system, not by the tracker.
  memory.by_category[MemoryCategory::other] +=
      std::max<std::int64_t>(0, memory.driver_used - memory.peak_measured);
  return memory;
}

}  // namespace

Prepared prepare_point(const SweepPoint& point, const WorkloadType& type, Device& device, Verify verify,
                       Verification* verification) {
  Prepared prepared;
  if (verify == Verify::yes) {  // the visits later on may find compiled code
    device.drop_caches();
  }
  if (point.cold) {  // the device's own means of emptying caches are not the workload's memory
    device.flush_caches();
  }
  // Asking the system takes longer than many a visit, and only the first one's answer is kept.
  const std::int64_t used_before = verify == Verify::yes ? device.driver_used() : 0;
  device.memory().reset_peak();

  const auto start = std::chrono::steady_clock::now();
  prepared.workload = type.make(point.spec, device);
  prepared.setup_ns = since_ns(start);

  const auto warm_start = std::chrono::steady_clock::now();
  prepared.warm_step_ns = warm_up(*prepared.workload, device, point.cold);
  prepared.setup_ns += since_ns(warm_start);

  if (verify == Verify::yes) {
    // Before the verification: the reference implementation's own memory is not the workload's.
    prepared.memory = memory_of(device, used_before);
    *verification = prepared.workload->verify();
    if (!verification->passed) {
      throw std::runtime_error(fmt::format("wrong answer: error {:.3g}, accepted {:.3g}; {}",
                                           verification->error, verification->tolerance,
                                           verification->detail));
    }
  }
  return prepared;
}

}  // namespace bench
