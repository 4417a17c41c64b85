// The simulated pipeline: workers that make batches, a queue, and consumers that compute on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/workers/loader/batch_queue.h"
#include "sweeps/workers/loader/storage.h"
#include "sweeps/workers/simulator/law.h"

namespace bench::simulator {

using loader::Order;
using loader::Storage;  // a reader that waits for it occupies no core

// How a consumer on the workers' own cores and the workers slow each other down, by the workers that compute
// at once; 1 is the speed alone.
struct CoreSharing {
  double active = 0;
  double consumer_speed = 1;
  double worker_speed = 1;  // while the consumer computes, and beyond what the law says
};

// The time from a thread's wake-up until a busy core runs it, by the number of workers. The system runs a
// thread on the core where it slept even if another is idle, so its chance to meet a busy core is the share
// of busy cores.
struct SchedulingLatency {
  double workers = 0;             // of all consumers
  std::vector<double> late_ns{};  // growing; as many for each count
};

struct Pipeline {
  std::int64_t workers = 1;  // a consumer; 0: the consumer's own thread makes the batches
  std::int64_t consumers = 1;
  std::int64_t prefetch = 2;  // batches outstanding per worker
  Order order = Order::in_order;
  bool lookahead = true;  // the next batch is copied while the previous one computes
  std::int64_t batch = 1;

  // Times that one worker alone takes, without waits for storage: for a batch (in_order, and no workers), for
  // a sample (any).
  std::vector<double> batch_work_ns{};
  std::vector<double> sample_work_ns{};
  std::vector<double> compute_ns{};  // of a step, without workers
  double copy_ns = 0;                // of a batch
  double gap_ns = 0;  // of a step: from the end of computing to its next start where a batch is there
  double take_ns =
      0;  // by the consumer thread, of a batch that was made; a loader that does nothing has none

  ScalabilityLaw law{};  // with the cores; its rate of one worker is not used
  // Whether workers that compute were told from workers that wait: not where the law is of load times alone.
  bool knows_waits = true;
  std::optional<Storage> storage{};
  double sample_bytes_read = 0;  // from storage, mean
  // Sizes of samples relative to their mean; used with storage: transfer and work grow with the size. Empty:
  // all are equal. Readers of equal samples never collide, which makes the storage look faster than it is.
  std::vector<double> sample_sizes{};
  std::vector<CoreSharing> shared_cores{};  // by growing `active`; empty: consumers are elsewhere
  // For the consumer thread, by growing `workers`. Empty: it is never late. Not used with `shared_cores`,
  // whose speeds include such waits.
  std::vector<SchedulingLatency> scheduling_latency{};

  std::uint64_t seed = 1;
  std::int64_t warm_up_steps = 100;
  std::int64_t steps = 2000;        // measured, of each consumer
  std::int64_t timeline_steps = 0;  // of the first consumer, after warming up

  bool shares_samples() const { return order == Order::any && workers > 0; }
  // In which a worker makes what it is handed out. A batch that it makes alone from storage it reads sample
  // by sample, and computes between two reads; of larger batches, some samples go together.
  std::int64_t pieces() const {
    constexpr std::int64_t kMost = 64;
    return shares_samples() || !storage ? 1 : std::min(kMost, batch);
  }
};

struct TimelineEntry {
  std::string who;   // "worker 3", "consumer"
  std::string what;  // "make", "wait", "copy", "compute"
  double from_ns = 0;
  double to_ns = 0;
  std::int64_t batch = 0;
};

// All over the measured steps.
struct Outcome {
  double samples_per_s = 0;  // of all consumers
  double au = 0;             // computing over total time, not divided by that of a loader that does nothing
  std::vector<double> step_ns{};
  double computing_workers = 0;           // on average
  double worker_busy = 0;                 // of a worker's time: computing
  double worker_reading = 0;              //   waiting for storage
  double storage_busy = 0;                // of the time its bandwidth was in use
  double copying = 0;                     // of the time a consumer copied
  double compute_ns = 0;                  // of a step, slowed down where the workers do so
  std::vector<TimelineEntry> timeline{};  // from 0 at the end of warming up
};

// Throws std::invalid_argument for counts that are negative, times that are, or none given where they are
// needed.
Outcome simulate(const Pipeline& pipeline);

// Computing over total time with a loader that does nothing: batches are there at once.
double ready_au(const Pipeline& pipeline);

}  // namespace bench::simulator
