// A clock that only moves when a test advances it, or when something sleeps by it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/clock.h"

namespace bench::testing {

class ManualClock : public Clock {
 public:
  time_point now() const override { return now_; }
  void sleep_until(time_point time) const override { now_ = std::max(now_, time); }
  void advance(std::chrono::nanoseconds by) {
    now_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(by);
  }
  void advance(std::int64_t ns) { advance(std::chrono::nanoseconds(ns)); }

 private:
  mutable time_point now_{};
};

}  // namespace bench::testing
