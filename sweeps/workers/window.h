// One sample of the workers sweep: a window of steps, with the times of its steps, batches and stages.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

struct StageName {
  const char* key;   // in the file
  const char* text;  // for people
  double loader::StageTimes::*time;
};
inline constexpr std::array<StageName, 5> kStages{{{"read", "read", &loader::StageTimes::read},
                                                   {"decode", "decode", &loader::StageTimes::decode},
                                                   {"augment", "augment", &loader::StageTimes::augment},
                                                   {"collate", "collate", &loader::StageTimes::collate},
                                                   {"hand_off", "hand-off", &loader::StageTimes::hand_off}}};
const StageName& largest_stage(const loader::StageTimes& stages);
Json to_json(const loader::StageTimes& stages);  // empty where no time was noted
Json to_json(const std::vector<simulator::TimelineEntry>& timeline);

// Times in nanoseconds.
class Window final : public SampleNote {
 public:
  std::vector<std::int64_t> step_ns;     // from one start of the consumer to the next
  std::vector<std::int64_t> compute_ns;  // of the steps that ended in it
  std::int64_t wait_ns = 0;              // for batches
  std::int64_t copy_ns = 0;              // to the device
  std::vector<std::int64_t> batch_ns;    // of each batch, by one worker, from its start to done
  std::vector<std::int64_t> batch_cpu_ns;
  std::vector<std::int64_t> sample_ns;  // of some samples, evenly from all batches
  loader::StageTimes stages_ns;         // of all images
  std::int64_t images = 0;              // made
  std::int64_t cpu_ns = 0;              // of the process
  std::int64_t voluntary_switches = 0;  // of the workers
  std::int64_t involuntary_switches = 0;
  std::int64_t host_bytes = 0;        // staging and the workers' scratch
  std::int64_t bad_files = 0;         // so far
  std::int64_t storage_bytes = -1;    // read from storage by the process; below 0: not known
  std::vector<std::int64_t> late_ns;  // from the end of a step until the sleeping consumer thread ran
  std::vector<std::int64_t> take_ns;  // of batches that were there; of loaders where that takes long
  Json timeline;                      // of its first steps, for the picture; null: not kept

  void add_batches(const std::vector<loader::Batch>& batches);
  Json to_json() const override;
};

// A note of a result file. Members that are missing or make no sense are left out; null where it is no
// object.
std::shared_ptr<const Window> read_window(const Json& note);

}  // namespace bench::sweeps
