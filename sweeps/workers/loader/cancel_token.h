// Ends work early whose result is no longer wanted.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>

#include "bench/clock.h"

namespace bench::loader {

// Asked every few milliseconds of work on an image, however large it is. Once it returns true, the work ends
// with Cancelled.
using CancelToken = std::function<bool()>;

struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

inline bool never() {
  return false;
}

// Sleeps in pieces of 50 ms at most, and asks `cancel` between them.
inline void sleep_until(const Clock& clock, Clock::time_point time, const CancelToken& cancel) {
  constexpr auto kPiece = std::chrono::milliseconds(50);
  while (clock.now() < time && !cancel()) {
    clock.sleep_until(std::min(time, clock.now() + kPiece));
  }
}

}  // namespace bench::loader
