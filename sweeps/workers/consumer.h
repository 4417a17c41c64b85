// Who takes the loader's batches: a workload on a device, or a stretch of time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "bench/device.h"
#include "bench/workload.h"

namespace bench::sweeps {

// Steps one at a time, beside the thread that starts them.
class Consumer {
 public:
  Consumer() = default;
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  virtual ~Consumer() = default;

  virtual void start() = 0;
  // Waits for the step that was started and returns how long it took, in nanoseconds.
  virtual std::int64_t finish() = 0;
  virtual Verification verify() { return {.passed = true, .detail = "a stretch of time gives no answer"}; }
  virtual int threads() const { return 0; }  // of the host's cores, while it computes
};

// Takes that long without using a core, as a GPU elsewhere would; 0 takes whatever is there.
std::unique_ptr<Consumer> timed_consumer(std::int64_t step_ns);

// The workload's steps, in a thread of their own: where the device is the host's processor it computes there,
// with at most that many cores. Makes the workload; throws what that throws.
std::unique_ptr<Consumer> workload_consumer(const WorkloadType& type, const WorkloadSpec& spec,
                                            Device& device, int cores);

}  // namespace bench::sweeps
