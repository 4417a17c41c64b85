// The time in which a step of several ranks waits for data.
#pragma once

#include <chrono>
#include <functional>

#include "bench/ranks.h"

namespace bench::kernels {

// On the host all time within the library that moves data counts: meanwhile nothing is computed. On a card it
// is what the group says.
class WaitingTime {
 public:
  explicit WaitingTime(const RankGroup& ranks) : ranks_(ranks) {}

  void restart() { within_library_ns_ = 0; }
  void within_library(const std::function<void()>& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    within_library_ns_ +=
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  double ns() const { return ranks_.waited_on_device_ns().value_or(within_library_ns_); }

 private:
  const RankGroup& ranks_;
  double within_library_ns_ = 0;
};

}  // namespace bench::kernels
