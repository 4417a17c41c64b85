// How late a thread that slept gets a core, while others keep the cores busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::sweeps {

// Sleeps again and again in a thread of its own, as one does that waits for a device. It takes no time of a
// core worth mentioning.
class WakeProbe {
 public:
  explicit WakeProbe(std::chrono::nanoseconds sleep);
  WakeProbe(const WakeProbe&) = delete;
  WakeProbe& operator=(const WakeProbe&) = delete;
  ~WakeProbe();

  // From when it was to wake until it ran, in nanoseconds, of every sleep since this was last asked.
  std::vector<std::int64_t> take();

 private:
  void serve();

  std::chrono::nanoseconds sleep_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::vector<std::int64_t> late_ns_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace bench::sweeps
