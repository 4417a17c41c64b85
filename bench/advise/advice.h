// What a training step's time goes to, what limits it, and which changes of the settings pay: the answer of
// `bench advise`, from results (results_advice.h) or from readings (observed_advice.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stats/estimate.h"
#include "bench/sweep.h"

namespace bench {

// How the user trains: --current.
struct TrainingSettings {
  std::int64_t batch = 0;  // samples of a card in one accumulation; 0: not given
  std::int64_t accumulate = 1;
  std::int64_t workers = 0;   // of each card; 0: the training process loads
  std::int64_t prefetch = 2;  // batches outstanding for each worker
  bool pin = false;
  std::string dtype = "fp32";
  std::int64_t cards = 1;

  std::int64_t effective_batch() const { return batch * accumulate * cards; }
  bool operator==(const TrainingSettings&) const = default;
};

// "batch=16,accumulate=8,workers=0,pin=no,dtype=fp32,cards=1"; keys that are left out keep their defaults.
// Throws UsageError naming the option, the key, its value and what is accepted.
TrainingSettings parse_settings(std::string_view option, std::string_view text);
inline constexpr std::int64_t kMostOfASetting = 1'000'000;

// What limits a step. The words that a reader sees are those of name_of().
enum class Bottleneck {
  none,       // nothing that a setting would change
  undecided,  // a reading is missing
  compute,
  launch,      // the host starts operations more slowly than the device ends them
  vram,        // the device's memory: a larger batch does not fit
  bus,         // copies to the device
  link,        // between cards, which exchange gradients
  loader,      // decoding, storage or transport, not told apart
  loader_cpu,  // decoding and transforms
  storage,     // reading samples
  host_memory,
  swap,
  host,    // cores or memory bandwidth that ranks share
  stages,  // layers over ranks, which wait for each other's
};
std::string name_of(Bottleneck bottleneck);

struct NamedBottleneck {
  Bottleneck bottleneck = Bottleneck::undecided;
  std::string reason;  // one sentence, with its numbers
};

// A part of a step's time. Parts of one budget add up to the step.
struct BudgetPart {
  std::string name;  // "computing", "waiting for data", "copying", "launching"
  double ns = 0;
};

// A change of the settings and what it brings. Times are of one sample, so that batches compare.
struct Change {
  std::string what;     // "workers 0 → 3, pinned memory"
  std::string setting;  // as it is written in PyTorch: "DataLoader(num_workers=3, pin_memory=True)"
  TrainingSettings after;
  double step_ns = 0;  // of one accumulation, with `after`
  std::optional<Interval> step90_ns{};
  double speedup = 1;  // time a sample now over time a sample then
  std::optional<Interval> speedup90{};
  // Nobody measured all that the change costs: step_ns is the least that a step takes, speedup the most that
  // the change brings, and neither has an interval.
  bool at_most = false;
  bool is_unsure = false;             // the files differ by more than it brings
  std::vector<std::string> costs;     // a sentence each: memory, accuracy, effective batch
  std::vector<std::string> evidence;  // names of points, files, or readings
};

// Figures that answer a question of their own: time to train by cards, memory by batch.
struct AdviceTable {
  std::string question;              // one line
  TextTable table{};                 // may be empty
  std::vector<std::string> notes{};  // sentences: how the figures were made, what they do not show
};

struct Advice {
  std::string subject;  // "resnet50, training in fp32 at batch 16 on AMD EPYC"
  std::string basis;    // one line: "measured here", "arithmetic on the readings of case-a.json"
  TrainingSettings current;
  Bottleneck bottleneck = Bottleneck::undecided;
  std::string reason;  // one sentence, with its numbers
  double step_ns = 0;  // of one accumulation as it is; 0: not known
  std::vector<BudgetPart> budget;
  std::vector<Change> changes;  // best first; empty: nothing pays
  std::vector<Change> tried;    // others, which do not pay
  std::vector<AdviceTable> tables;
  std::vector<std::string> contradictions;  // two readings that cannot both hold, a sentence each
  std::vector<std::string> missing;         // readings that would decide: by name, and how to get each
  std::vector<std::string> warnings;
};

}  // namespace bench
