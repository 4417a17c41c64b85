#include "sweeps/workers/wake_probe.h"

#include <utility>

namespace bench::sweeps {

WakeProbe::WakeProbe(std::chrono::nanoseconds sleep) : sleep_(sleep), thread_([this] { serve(); }) {}

WakeProbe::~WakeProbe() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
  thread_.join();
}

std::vector<std::int64_t> WakeProbe::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(late_ns_, {});
}

void WakeProbe::serve() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  while (!over_) {
    const Clock::time_point due = Clock::now() + sleep_;
    if (!over_changed_.wait_until(lock, due, [this] { return over_; })) {
      late_ns_.push_back(std::chrono::nanoseconds(Clock::now() - due).count());
    }
  }
}

}  // namespace bench::sweeps
