// The time, passed in, so that rules about time are tested without waiting.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench {

class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual time_point now() const = 0;
  // The calling thread rests until then.
  virtual void sleep_until(time_point time) const = 0;

  std::int64_t now_ns() const { return std::chrono::nanoseconds(now().time_since_epoch()).count(); }
  double since_ns(time_point start) const {
    return std::chrono::duration<double, std::nano>(now() - start).count();
  }
};

// The machine's.
const Clock& steady_clock();

}  // namespace bench
