// Runs something on a second thread while something else runs on this one, again and again.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

#include "bench/clock.h"

namespace bench::sweeps {

class ConcurrentRunner {
 public:
  ConcurrentRunner(const Clock& clock, std::function<void()> other)
      : clock_(clock), other_(std::move(other)), thread_([this] { serve(); }) {}
  ConcurrentRunner(const ConcurrentRunner&) = delete;
  ConcurrentRunner& operator=(const ConcurrentRunner&) = delete;
  ~ConcurrentRunner() {
    stop_ = true;
    both_.arrive_and_wait();
    thread_.join();
  }

  // Starts both, waits for both, and returns how long that took, in nanoseconds. The hand-over between the
  // threads, some tens of microseconds, is in it. Rethrows what either throws.
  double run(const std::function<void()>& own) {
    const auto start = clock_.now();
    both_.arrive_and_wait();
    const std::exception_ptr failed = caught(own);
    both_.arrive_and_wait();
    const double elapsed_ns = clock_.since_ns(start);
    if (failed || failed_) {
      std::rethrow_exception(failed ? failed : failed_);
    }
    return elapsed_ns;
  }

 private:
  static std::exception_ptr caught(const std::function<void()>& work) {
    try {
      work();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void serve() {
    for (both_.arrive_and_wait(); !stop_; both_.arrive_and_wait()) {
      failed_ = caught(other_);
      both_.arrive_and_wait();
    }
  }

  const Clock& clock_;
  std::function<void()> other_;
  std::barrier<> both_{2};
  // Written before one thread arrives, read after the other did.
  bool stop_ = false;
  std::exception_ptr failed_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace bench::sweeps
