// How late a thread that slept gets a core, while others keep the cores busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::sweeps {

// Works and sleeps in turn in a thread of its own, as one does that copies a batch and waits for a device. A
// thread that only sleeps would not do: a scheduler owes it time, and wakes it at once.
class WakeProbe {
 public:
  // Every turn takes `step`, of which the thread works for `busy` of a core's time.
  WakeProbe(std::chrono::nanoseconds step, std::chrono::nanoseconds busy);
  WakeProbe(const WakeProbe&) = delete;
  WakeProbe& operator=(const WakeProbe&) = delete;
  ~WakeProbe();

  std::int64_t sleeps() const;
  // From when it was to wake until it ran, in nanoseconds, of every sleep since this was last asked.
  std::vector<std::int64_t> take();

 private:
  void serve();

  std::chrono::nanoseconds step_;
  std::chrono::nanoseconds busy_;
  mutable std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::vector<std::int64_t> late_ns_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace bench::sweeps
