// Takes the loader's batches: a workload on a device, or a time a step.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/workload.h"

namespace bench::sweeps {

// Runs one step at a time, in parallel with the thread that starts it.
class Consumer {
 public:
  Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  virtual ~Consumer() = default;

  virtual void start() = 0;
  // Waits for the step that was started and returns how long it took, in nanoseconds.
  virtual std::int64_t finish() = 0;
  virtual Verification verify() { return {.passed = true, .detail = "a time gives no answer"}; }
};

// A step takes that long without using a core, as on a GPU elsewhere; 0: no time.
std::unique_ptr<Consumer> timed_consumer(std::int64_t step_ns, const Clock& clock);

// The workload's steps, in a thread of their own; where the device is the host's processor, with at most that
// many cores. Makes the workload; throws what that throws.
std::unique_ptr<Consumer> workload_consumer(const ConfiguredWorkload& workload, Device& device, int cores);

}  // namespace bench::sweeps
