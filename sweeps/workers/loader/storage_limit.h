// A slower storage than the one at hand: reads wait as if they came from it (--storage).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "bench/clock.h"
#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/storage.h"

namespace bench::loader {

// "200MB/s,5ms"; throws UsageError naming --storage.
Storage parse_storage(const std::string& text);

// The reads of `data`, each at least as long as the limit makes it take; a cancelled one no longer waits.
std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const Storage& limit, const Clock& clock,
                                 CancelToken cancel = never);

// The storage's bandwidth as a time line on which each read takes its share. Times are nanoseconds of any one
// clock; they are passed in. Any number of threads may call it at once.
class Reservations {
 public:
  explicit Reservations(const Storage& limit) : limit_(limit) {}

  // A read of `bytes` asked for at `now` is done at the returned time: transfers follow one another, while
  // their latencies overlap. Bandwidth that nobody used is not saved up.
  std::int64_t reserve(std::int64_t now, std::int64_t bytes) {
    const std::scoped_lock lock(mutex_);
    free_at_ =
        std::max(free_at_, static_cast<double>(now)) + static_cast<double>(bytes) * 1e9 / limit_.bytes_per_s;
    return static_cast<std::int64_t>(std::ceil(free_at_)) + std::llround(limit_.latency_ns);
  }

 private:
  Storage limit_;
  std::mutex mutex_;
  double free_at_ = 0;  // nanoseconds, with fractions: 2^53 are 104 days of uptime
};

}  // namespace bench::loader
