// The time, passed in, so that rules about time are tested without waiting.
#pragma once

#include <chrono>

namespace bench {

class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual time_point now() const = 0;
  double since_ns(time_point start) const {
    return std::chrono::duration<double, std::nano>(now() - start).count();
  }
};

// The machine's.
const Clock& steady_clock();

}  // namespace bench
