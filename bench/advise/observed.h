// Readings that a person has of a training run: a log, nvidia-smi, the script's settings. Times are in
// seconds, memory in bytes; a reading that was not given is absent and never guessed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/stats/estimate.h"
#include "bench/stats/memory_line.h"

namespace bench {

// What a count of workers did.
struct WorkersTried {
  std::int64_t workers = 0;
  std::vector<double> utilisation;  // a trace, percent
  std::optional<std::int64_t> slower_than_workers;
  bool idle_rarely = false;  // its trace mostly has no zeros
  bool idle_often = false;
  std::optional<double> step_s, data_s;
};

struct OtherRun {  // an earlier run or a proposal; what is absent is as in this run
  std::optional<std::int64_t> batch, accumulate, workers, cards, image_size, sequence;
  std::optional<bool> pin;
  std::optional<double> step_s, data_s;
};

struct DiedAt {
  std::int64_t batch = 0;
  std::optional<std::int64_t> iterations;
  double memory_cap = 0;  // bytes, of the card it died on; 0: not given
  std::string device;
};

struct Observed {
  std::string source;   // the file's name
  std::string text;     // the file
  std::string subject;  // given
  std::string mode = "train";
  TrainingSettings settings;
  bool has_workers = false;
  bool has_dtype = false;
  bool has_accumulate = false;

  std::optional<double> step_s, data_s;
  double step_rounding_s = 0;  // half of the last digit given, as data's
  double data_rounding_s = 0;
  std::optional<bool> step_is_optimizer;  // else one accumulation
  std::optional<double> elapsed_s;        // of iterations_done
  std::optional<double> outside_s;        // of that, outside of steps: validation, checkpoints

  std::vector<double> memory;  // bytes of each card
  std::optional<double> memory_cap;
  std::optional<double> memory_stated_percent;
  std::optional<double> reserved;         // bytes, by the framework's allocator on the fullest card
  std::vector<double> utilisation;        // percent, of each card
  std::vector<double> utilisation_range;  // percent, low and high
  std::optional<double> host_memory, host_memory_used, swap, swap_used, worker_memory;
  std::optional<std::int64_t> host_cores;
  std::optional<double> host_cpu, host_system;  // shares of all cores' time: in use, and of that the kernel's

  std::vector<MemoryPoint> memory_at_batch;  // of one card, by batch
  std::optional<std::int64_t> runs_at_batch, no_faster_above_batch;
  std::vector<std::int64_t> batches_tried;
  std::vector<double> other_caps;  // bytes, of cards to choose from
  std::optional<DiedAt> died_at;

  std::optional<std::int64_t> iterations, iterations_done, iterations_an_epoch, epochs, image_size, sequence;
  std::string optimizer;
  std::string device;  // the card, an id or a name of the catalogue
  std::optional<double> parameters;
  std::optional<double> flops_a_sample;        // of a whole step: in training the gradients' too
  std::optional<Interval> scaling_efficiency;  // shares

  std::optional<double> allocation, free;  // bytes: asked for at once, and left on the card that refuses
  bool split_by_layers = false;
  std::vector<WorkersTried> workers_tried;
  std::optional<OtherRun> earlier_run, proposed;
  std::string stand_in;  // a network of this program in place of the user's
  std::string
      stand_in_run;  // a result of the cards sweep, of a network in its place; from the readings' folder

  // In all; absent where it is not given and does not follow.
  std::optional<std::int64_t> all_iterations() const {
    return iterations                      ? iterations
           : iterations_an_epoch && epochs ? std::optional(*iterations_an_epoch * *epochs)
                                           : std::nullopt;
  }
};

// Throws UsageError, one sentence naming the file, the key, its value and what is accepted: text that is not
// JSON, what results/observed-schema.json does not accept, and readings that exclude each other.
Observed parse_observed(std::string_view text, const std::string& source);

inline constexpr std::size_t kMostObservedBytes = 1 << 20;
// A file, or standard input for "-". Throws UsageError.
Observed read_observed(const std::string& path, std::istream& standard_input);

}  // namespace bench
