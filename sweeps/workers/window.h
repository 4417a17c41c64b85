// One sample of the workers sweep: a window of steps, with the times of its steps, batches and stages.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/result/result.h"
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
Json rounded(const std::vector<double>& times);  // to whole nanoseconds

// Times in nanoseconds.
class Window final : public SampleNote {
 public:
  std::vector<double> step_ns;          // from one start of the consumer to the next
  std::vector<double> compute_ns;       // of the steps that ended in it
  std::vector<double> batch_ns;         // of each batch, by one worker, from its start to done
  std::vector<double> batch_cpu_ns;     // of each batch
  std::vector<double> sample_ns;        // of some samples, evenly from all batches
  std::vector<double> late_ns;          // from the end of a step until the sleeping consumer thread ran
  std::vector<double> take_ns;          // of batches that were there; of loaders where that takes long
  std::int64_t wait_ns = 0;             // for batches
  std::int64_t copy_ns = 0;             // to the device
  std::int64_t images = 0;              // made
  std::int64_t cpu_ns = 0;              // of the process
  std::int64_t voluntary_switches = 0;  // of the workers
  std::int64_t involuntary_switches = 0;
  std::int64_t host_bytes = 0;      // staging and the workers' scratch
  std::int64_t bad_files = 0;       // so far
  std::int64_t storage_bytes = -1;  // read from storage by the process; below 0: not known
  loader::StageTimes stages_ns;     // of all images
  Json timeline;                    // of its first steps, for the picture; null: not kept

  void add_batches(const std::vector<loader::Batch>& batches);
  // Appends the other window's times and stages, adds what it copied, made and used, and keeps the larger
  // memory and number of bad files.
  void append(const Window& other);
  Json to_json() const override;
};

// A note of a result file. Members that are missing or make no sense are left out; null where it is no
// object.
std::shared_ptr<const Window> read_window(const Json& note);

}  // namespace bench::sweeps
