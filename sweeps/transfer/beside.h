// Runs something on a second thread at the same time as something on this one, again and again.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace bench::sweeps {

class Beside {
 public:
  explicit Beside(std::function<void()> other) : other_(std::move(other)), thread_([this] { serve(); }) {}
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    stop_ = true;
    started_.fetch_add(1);
    started_.notify_one();
    thread_.join();
  }

  // Starts both, waits for both, and returns how long that took, in nanoseconds. The hand-over between the
  // threads, some tens of microseconds, is in it. Rethrows what either throws.
  double run(const std::function<void()>& own) {
    const auto start = std::chrono::steady_clock::now();
    started_.fetch_add(1);
    started_.notify_one();
    std::exception_ptr failed;
    try {
      own();
    } catch (...) {
      failed = std::current_exception();
    }
    for (int done = done_; done != started_; done = done_) {
      done_.wait(done);
    }
    const auto end = std::chrono::steady_clock::now();
    if (failed || failed_) {
      std::rethrow_exception(failed ? failed : std::exchange(failed_, nullptr));
    }
    return std::chrono::duration<double, std::nano>(end - start).count();
  }

 private:
  void serve() {
    for (int seen = 0;; ++seen) {
      started_.wait(seen);
      if (stop_) {
        return;
      }
      try {
        other_();
      } catch (...) {
        failed_ = std::current_exception();
      }
      done_.fetch_add(1);
      done_.notify_one();
    }
  }

  std::function<void()> other_;
  std::atomic<int> started_ = 0;
  std::atomic<int> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::exception_ptr failed_;  // written before done_, read after it
  std::thread thread_;         // last: it uses all of the above
};

}  // namespace bench::sweeps
