// The rate and latency of a storage.
#pragma once

namespace bench::loader {

struct Storage {
  double bytes_per_s = 0;  // all readers together; 0: no limit
  double latency_ns = 0;   // of a read; those of different readers overlap
};

}  // namespace bench::loader
