// A storage's rate and latency, and how reads share it: for the simulator, and for a loader whose reads wait
// as if they came from a slower storage than the one at hand (--storage).
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "bench/clock.h"
#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

struct Storage {
  double bytes_per_s = 0;  // all readers together; 0: no limit
  double latency_ns = 0;   // of a read; those of different readers overlap

  // The time of a read that has the storage to itself, without its latency.
  double transfer_ns(double bytes) const { return bytes_per_s > 0 ? bytes / bytes_per_s * 1e9 : 0; }
};

// The storage's bandwidth as a time line on which each read takes its share. Times are nanoseconds of any one
// clock; they are passed in.
class Reservations {
 public:
  explicit Reservations(const Storage& storage) : storage_(storage) {}

  // When `bytes` that are asked for at `now` have been transferred; a read is done its latency later.
  // Transfers follow one another, while their latencies overlap. Bandwidth that nobody used is not saved up.
  double reserve(double now, double bytes) {
    free_at_ = std::max(free_at_, now) + storage_.transfer_ns(bytes);
    return free_at_;
  }

 private:
  Storage storage_;
  double free_at_ = 0;  // with fractions: 2^53 ns are 104 days of uptime
};

// "200MB/s,5ms"; throws UsageError naming --storage.
Storage parse_storage(const std::string& text);

// The reads of `data`, each at least as long as the limit makes it take; a cancelled one no longer waits.
std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const Storage& limit, const Clock& clock,
                                 CancelToken cancel = never);

}  // namespace bench::loader
