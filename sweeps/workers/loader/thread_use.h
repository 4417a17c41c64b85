// Processor time and context switches of the calling thread.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>

namespace bench::loader {

struct ThreadUse {
  std::int64_t cpu_ns = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;

  static ThreadUse so_far() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {.cpu_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec,
            .voluntary_switches = usage.ru_nvcsw,
            .involuntary_switches = usage.ru_nivcsw};
  }
  ThreadUse& operator+=(const ThreadUse& other) {
    cpu_ns += other.cpu_ns;
    voluntary_switches += other.voluntary_switches;
    involuntary_switches += other.involuntary_switches;
    return *this;
  }
  ThreadUse since(const ThreadUse& start) const {
    return {.cpu_ns = cpu_ns - start.cpu_ns,
            .voluntary_switches = voluntary_switches - start.voluntary_switches,
            .involuntary_switches = involuntary_switches - start.involuntary_switches};
  }
};

}  // namespace bench::loader
