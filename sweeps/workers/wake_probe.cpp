#include "sweeps/workers/wake_probe.h"

#include <utility>

#include "sweeps/workers/loader/thread_use.h"

namespace bench::sweeps {

namespace {

void work(std::chrono::nanoseconds busy) {
  const std::int64_t until = loader::thread_cpu_ns() + busy.count();
  while (loader::thread_cpu_ns() < until) {
  }
}

}  // namespace

WakeProbe::WakeProbe(std::chrono::nanoseconds step, std::chrono::nanoseconds busy)
    : step_(step), busy_(busy), thread_([this] { serve(); }) {}

WakeProbe::~WakeProbe() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_all();
  thread_.join();
}

std::int64_t WakeProbe::sleeps() const {
  const std::scoped_lock lock(mutex_);
  return std::ssize(late_ns_);
}

std::vector<std::int64_t> WakeProbe::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(late_ns_, {});
}

void WakeProbe::serve() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  while (!over_) {
    const Clock::time_point due = Clock::now() + step_;
    lock.unlock();
    work(busy_);
    lock.lock();
    if (Clock::now() >= due) {
      continue;  // the work itself took so long: there was no sleep to wake from
    }
    if (!over_changed_.wait_until(lock, due, [this] { return over_; })) {
      late_ns_.push_back(std::chrono::nanoseconds(Clock::now() - due).count());
    }
  }
}

}  // namespace bench::sweeps
