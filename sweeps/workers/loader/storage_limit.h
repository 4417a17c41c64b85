// A slower storage than the one at hand: reads wait as if they came from it (--storage).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

struct StorageLimit {
  double bytes_per_s = 0;       // of all readers together
  std::int64_t latency_ns = 0;  // of each read
};
// "200MB/s,5ms"; throws UsageError naming --storage.
StorageLimit parse_storage(const std::string& text);

// The reads of `data`, each at least as long as the limit makes it take. They no longer wait once a stop is
// requested.
std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const StorageLimit& limit,
                                 std::stop_token stop = {});

// The storage's bandwidth as a time line on which each read takes its share. Times are nanoseconds of any one
// clock; they are passed in. Any number of threads may call it at once.
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
