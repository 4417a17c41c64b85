// Processor time and context switches of the calling thread.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>

#include "sweeps/workers/loader/pool.h"

namespace bench::loader {

inline std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// What the calling thread has used so far.
struct ThreadUse {
  std::int64_t cpu_ns = thread_cpu_ns();
  std::int64_t voluntary = 0;
  std::int64_t involuntary = 0;

  ThreadUse() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    voluntary = usage.ru_nvcsw;
    involuntary = usage.ru_nivcsw;
  }
  // What was used since `start`, into the batch.
  void add_since(const ThreadUse& start, Batch& batch) const {
    batch.cpu_ns += cpu_ns - start.cpu_ns;
    batch.voluntary_switches += voluntary - start.voluntary;
    batch.involuntary_switches += involuntary - start.involuntary;
  }
};

}  // namespace bench::loader
