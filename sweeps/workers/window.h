// What is noted of a window of steps while it runs, and as JSON after it.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/loader/pool.h"

namespace bench::sweeps {

// A stretch on the time line, steady clock in nanoseconds. Workers are numbered; -1 is the consumer.
struct Stretch {
  int who = -1;
  const char* what = "";  // "make", "wait", "copy", "compute"
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t batch = 0;
};

struct Window {
  std::vector<std::int64_t> step_ns;     // from one start of the consumer to the next
  std::vector<std::int64_t> compute_ns;  // of the steps that ended in it
  std::vector<std::int64_t> late_ns;     // the consumer's thread woke, or one beside the window before
  std::vector<std::int64_t> late_unyielding_ns;  // the latter, beside workers that did not give way
  std::int64_t wait_ns = 0;                      // for batches
  std::int64_t copy_ns = 0;
  std::vector<loader::Batch> batches;  // taken in it
  std::int64_t cpu_ns = 0;             // of the process
  std::int64_t host_bytes = 0;         // staging and the workers' scratch
  std::int64_t bad_files = 0;          // so far
  std::int64_t storage_bytes = 0;      // read from storage meanwhile, by the process
  std::vector<Stretch> stretches;      // empty: not to be kept
};

Json notes_of(const Window& window);

}  // namespace bench::sweeps
