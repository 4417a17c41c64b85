// The rate and latency of a storage, and how reads share it: for the loader's limit and for the simulator.
#pragma once

#include <algorithm>

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

}  // namespace bench::loader
