// The loader of a step that was read, by steps under one count of workers or several, as the step model takes
// it, and what the host has cores for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/loading_model.h"
#include "bench/advise/observed.h"

namespace bench {

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

}  // namespace bench
