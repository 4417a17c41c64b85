// Devices that can leave out of a step's time what the host takes to queue it.
#pragma once

#include <cstdint>
#include <functional>

namespace bench::kernels {

class QueuedTiming {
 public:
  virtual ~QueuedTiming() = default;
  // As Device::time(), but the device begins with the step's work when the host has queued all of it: a
  // kernel of some microseconds ends before the host has launched the next one. A step that waits for the
  // device itself is timed as by Device::time().
  virtual std::int64_t time_queued(const std::function<void()>& step) = 0;
};

}  // namespace bench::kernels
