// A storage's bandwidth as a time line on which each read takes its share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "sweeps/workers/loader/data.h"

namespace bench::loader {

// Times are nanoseconds of any one clock; they are passed in. Threads may call it at once.
class Reservations {
 public:
  explicit Reservations(const StorageLimit& limit) : limit_(limit) {}

  // A read of `bytes` asked for at `now` is done at the returned time: transfers follow one another, while
  // their latencies overlap. Bandwidth that nobody asked for is gone.
  std::int64_t reserve(std::int64_t now, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    free_at_ =
        std::max(free_at_, static_cast<double>(now)) + static_cast<double>(bytes) * 1e9 / limit_.bytes_per_s;
    return static_cast<std::int64_t>(std::ceil(free_at_)) + limit_.latency_ns;
  }

 private:
  StorageLimit limit_;
  std::mutex mutex_;
  double free_at_ = 0;  // nanoseconds, with fractions: 2^53 are 104 days of uptime
};

}  // namespace bench::loader
