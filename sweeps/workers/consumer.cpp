#include "sweeps/workers/consumer.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "bench/host/interrupt.h"
#include "sweeps/workers/loader/cancel_token.h"

namespace bench::sweeps {
namespace {

class TimedConsumer final : public Consumer {
 public:
  TimedConsumer(std::int64_t step_ns, const Clock& clock) : step_(step_ns), clock_(clock) {}
  void start() override { end_ = clock_.now() + step_; }
  // A step that ended before it was asked for took no longer for that.
  std::int64_t finish() override {
    loader::sleep_until(clock_, end_, interrupted);
    return step_.count();
  }

 private:
  std::chrono::nanoseconds step_;
  const Clock& clock_;
  Clock::time_point end_;
};

// Runs one task at a time in a thread of its own, with which OpenMP keeps its team.
class OwnThread {
 public:
  void start(std::function<void()> task) {
    std::packaged_task<void()> next(std::move(task));
    result_ = next.get_future();
    {
      const std::scoped_lock lock(mutex_);
      next_ = std::move(next);
    }
    changed_.notify_one();
  }
  // Rethrows what the task threw.
  void finish() { result_.get(); }
  void run(std::function<void()> task) {
    start(std::move(task));
    finish();
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return next_.valid(); })) {
      std::packaged_task<void()> task = std::move(next_);
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::packaged_task<void()> next_;
  std::future<void> result_;  // of the task that was started last
  // Last: it uses all of the above.
  std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};
};

class WorkloadConsumer final : public Consumer {
 public:
  WorkloadConsumer(const ConfiguredWorkload& workload, Device& device, int cores) : device_(device) {
    thread_.run([&] {
      device.limit_threads(cores);
      workload_ = workload.make(device);
    });
  }
  ~WorkloadConsumer() override {
    try {
      thread_.run([this] { workload_.reset(); });
    } catch (...) {  // its destructors do not throw
    }
  }

  void start() override {
    thread_.start([this] {
      workload_->before_step();
      took_ns_ = device_.time([this] { workload_->step(); });
    });
  }
  std::int64_t finish() override {
    thread_.finish();
    return took_ns_;
  }
  Verification verify() override {
    Verification verification;
    thread_.run([&] { verification = workload_->verify(); });
    return verification;
  }

 private:
  Device& device_;
  std::unique_ptr<Workload> workload_;
  std::int64_t took_ns_ = 0;  // written by the thread, read after finish()
  OwnThread thread_;
};

}  // namespace

std::unique_ptr<Consumer> timed_consumer(std::int64_t step_ns, const Clock& clock) {
  return std::make_unique<TimedConsumer>(step_ns, clock);
}

std::unique_ptr<Consumer> workload_consumer(const ConfiguredWorkload& workload, Device& device, int cores) {
  return std::make_unique<WorkloadConsumer>(workload, device, cores);
}

}  // namespace bench::sweeps
