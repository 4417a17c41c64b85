// The readings as the step model takes them, and the parts of advice_from_readings(), one question each. A
// part adds tables, changes, contradictions and what is missing to the advice; those that can name the
// bottleneck return it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/loading_model.h"
#include "bench/advise/observed.h"
#include "bench/advise/observed_advice.h"
#include "bench/advise/step_model.h"
#include "bench/advise/step_option.h"
#include "bench/model/gpu.h"

namespace bench {

// Figures as the parts print them.
std::string hours_in_words(double seconds);  // "222.9 h (9.3 days)", "50.8 min"
std::string gib_in_words(double bytes);      // "9.36 GiB"
std::string share_in_words(double share);    // "96.6 %"
std::string seconds_in_words(double seconds);

// Time of one accumulation; absent where the readings do not tell it.
std::optional<double> accumulation_s(const Observed& observed);

// A step whose wait is hidden, by this run and those with other counts of workers; absent without a wait.
std::optional<double> hidden_step_s(const Observed& observed);

inline constexpr double kRunsAsFast = 0.9;  // of two runs' times: closer ones may be the same

// Times under one count of workers, or of cards, of a run that is this one otherwise.
struct TimedRun {
  std::int64_t count = 0;
  double step_s = 0;
  std::optional<double> data_s{};
};
// By workers, growing; this run's own among them.
std::vector<TimedRun> timed_workers(const Observed& observed);
// The fewest near the fastest; nullopt: no step was timed.
std::optional<TimedRun> fastest_workers(const std::vector<TimedRun>& timed);
// Another count under which this run's step was faster.
std::optional<TimedRun> faster_workers(const Observed& observed);
// Whether the trainer waits for data under this count.
bool trainer_waits(const TimedRun& one, const std::vector<TimedRun>& timed);
// Two counts, one of them this run's, of which the larger one loads no faster though the trainer waits under
// both, and none is faster than this one: workers are not what limits the loader.
std::optional<std::pair<TimedRun, TimedRun>> workers_that_bring_nothing(const Observed& observed);
// Whether these are two such, or a larger count was timed that is no faster.
bool more_bring_nothing(const Observed& observed);

// A batch is loaded in serial + parallel / workers, through the counts under which the trainer waited.
struct LoadingLaw {
  double serial = 0;
  double parallel = 0;

  double at(double workers) const { return serial + parallel / workers; }
};
// nullopt: fewer than two such counts, or more workers load no faster.
std::optional<LoadingLaw> loading_law(const Observed& observed);

// Processes that load, of all cards; and with each card's training.
std::int64_t loaders_of(const Observed& observed);
std::int64_t processes_of(const Observed& observed);
// Whether these are more than the host's cores.
bool is_crowded(const Observed& observed);
// Of a card, where each process has a core.
std::int64_t workers_with_cores(const Observed& observed);
inline constexpr double kBusyCores = 0.8;  // of their time
void ask_for_host_cpu(const Observed& observed, std::vector<std::string>& missing);
// A process that decodes keeps a core busy: where fewer cores are, the processes wait for something else.
bool decoding_is_excluded(const Observed& observed);
// Decoding the same samples takes the same time: where a wait grows many times over and computing stays, the
// files come more slowly.
bool is_slower_storage(const Observed& observed);

// "0.44 s of a step of 2.6 s (16.9 %) wait for data"
std::string wait_in_words(const Observed& observed);

// The loader by a step and its wait, and by steps under other counts of workers. Without workers the wait is
// all of a load; where the trainer waits for its workers, each of them loads all the time, and has a batch
// ready every so many steps as there are workers. A count that was faster is as it was timed, and nothing
// faster is promised; without one a step under another count takes no less than this one's loads tell.
class ReadLoading final : public LoadingModel {
 public:
  explicit ReadLoading(const Observed& observed);  // which outlives it

  // The fewest workers of a card that hide all of the wait.
  std::int64_t keep_up(double compute_ns) const;

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override;
  Bottleneck limit(const TrainingSettings& settings, double compute_ns,
                   std::optional<double> copy_ns) const override;
  std::string reason_to_wait(std::vector<std::string>& missing) const override;
  std::optional<NamedBottleneck> what_else_limits(std::vector<std::string>& missing) const override;
  double host_bytes(const TrainingSettings& settings) const override;

 private:
  const Observed& observed_;
  double step_ns_;
  double scale_;  // of a step that was read, in seconds, to that of an accumulation
  std::vector<TimedRun> timed_;
  LoadingLaw law_;  // in nanoseconds, each worker having a core
};

// What the proposed count of cards brings, by what was read of them.
struct ReadScaling {
  CardsScaling brings;
  std::string evidence;
  bool is_measured = false;  // by step times of two counts of cards
};
// nullopt: none is proposed, or nothing tells.
std::optional<ReadScaling> scaling_of(const Observed& observed);

// The step as it was read in the step model, and what other counts of workers and the proposed cards bring.
// One that was not read counts as one second, of which ratios are right.
struct ReadStep {
  explicit ReadStep(const Observed& given);

  // One that pays and has another count of this; nullptr: none does.
  const StepOption* paying(std::int64_t TrainingSettings::*count) const;

  const Observed& observed;
  std::optional<ReadScaling> scaling;
  StepModel model;
  StepOption now;
  FoundChanges found;
};

// Of a card of so many bytes, by the memory that was read at two batches or more.
std::optional<BatchLimits> batch_limits(const Observed& observed, double cap);

// Of the catalogue; nullptr where it was not named, or is not in it.
const Gpu* card_of(const Observed& observed);
// Bytes of the host's memory that nothing uses; absent where they were not read.
std::optional<double> room_on_host(const Observed& observed);
// Whether the other run's steps are of the same samples: batch, accumulation, size and length.
bool is_same_work(const Observed& observed, const OtherRun& other);

std::optional<NamedBottleneck> advise_host(const ReadStep& read, Advice& advice);
std::optional<NamedBottleneck> advise_loading(const ReadStep& read, Advice& advice);
std::optional<NamedBottleneck> advise_memory(const Observed& observed, Advice& advice);
void advise_training_time(const Observed& observed, Advice& advice);
// What another count of cards brought.
std::optional<NamedBottleneck> compare_earlier_run(const Observed& observed, Advice& advice);
void advise_cards(const ReadStep& read, Advice& advice);
void advise_proposal(const ReadStep& read, Advice& advice);
void advise_split(const Observed& observed, Advice& advice);
// Whether gradients were replayed: several cards train, and their step is known.
bool advise_stand_in(const Observed& observed, const StandIn& stand_in, Advice& advice);

}  // namespace bench
