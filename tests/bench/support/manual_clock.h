// A clock that stands until a test moves it.
#pragma once

#include <cstdint>

#include "bench/clock.h"

namespace bench::testing {

class ManualClock : public Clock {
 public:
  time_point now() const override { return now_; }
  void advance(std::chrono::nanoseconds by) {
    now_ += std::chrono::duration_cast<std::chrono::steady_clock::duration>(by);
  }
  void advance(std::int64_t ns) { advance(std::chrono::nanoseconds(ns)); }

 private:
  time_point now_{};
};

}  // namespace bench::testing
