// The memory sweep's state beyond its points, and its form in the result file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/growth.h"
#include "bench/measure/result.h"

namespace bench::sweeps {

// One limit tried on the device with the device's cap set to it: an allocation beyond the cap is refused, as
// a smaller device would.
struct LimitTrial {
  std::string not_tried;           // why; then nothing else is known
  std::int64_t largest_batch = 0;  // that could be allocated
  std::optional<std::int64_t> refused_batch{};
  int probes = 0;
  std::int64_t tracked_bytes = 0;  // of the largest batch
  bool ran_a_step = false;
};

// Which batch of a series fits below a cap, by plan.
struct Limit {
  std::string label;  // of the series
  Json params;        // of the series: a point's, without the batch
  std::int64_t cap_bytes = 0;
  std::int64_t fixed_bytes = 0;  // weights, gradients and optimizer state
  std::int64_t setup_bytes = 0;  // held during setup
  std::int64_t smallest_batch = 0;
  std::int64_t smallest_bytes = 0;
  std::int64_t largest_batch = 0;  // below the cap; 0: none
  std::optional<std::int64_t> largest_bytes;
  std::optional<std::int64_t> next_bytes;  // of the next larger batch
  std::string next_unsupported;            // why there is none, whatever memory there were; empty: there is
  std::int64_t safe_batch = 0;             // the largest that takes less than 90 % of the cap
  std::optional<LimitTrial> proof;

  // As tried, where it was tried.
  std::int64_t known_largest() const {
    return proof && proof->not_tried.empty() ? proof->largest_batch : largest_batch;
  }
  bool fixed_part_is_too_large() const { return fixed_bytes > cap_bytes && known_largest() == 0; }
};

// Limits that were not planned.
struct LimitsLeftOut {
  std::int64_t count = 0;
  std::string reason;
};

// Memory in use over one step of a measured point, by plan.
struct StepMemory {
  std::string label;
  std::string point;
  std::int64_t batch = 0;
  std::int64_t reserved_bytes = 0;
  std::vector<MemoryMoment> moments;
};

// A long run of a series, with the memory sampled along.
struct Soak {
  std::string label;
  std::string point;
  std::int64_t batch = 0;
  std::int64_t wanted_steps = 0;
  std::int64_t done_steps = 0;
  std::vector<MemorySample> seen;     // by the system
  std::vector<MemorySample> tracked;  // at the same steps
  std::string ended_by;               // an error; empty: none
};

struct MemoryState {
  std::vector<Limit> limits;
  std::optional<LimitsLeftOut> limits_left_out;
  std::optional<StepMemory> step_memory;
  std::vector<Soak> soaks;

  // The members "limits", "limits_left_out", "step_memory" and "soak" of the file's "sweep".
  Json to_json() const;
  // Throws UsageError where a member cannot be used. Two members are not read: the step's memory, which costs
  // nothing to plan, and the limits left out, which this process plans.
  static MemoryState from_json(const Json& sweep);
};

}  // namespace bench::sweeps
