// The loader of a step that was read, as the step model takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/loading_model.h"
#include "bench/advise/observed_workers.h"

namespace bench {

// "0.44 s of a step of 2.6 s (16.9 %) wait for data"
std::string wait_in_words(const Observed& observed);
// "with 8 workers a step took 77 ms: 2 are too few"
std::string faster_in_words(const Observed& observed, const TimedWorkers& faster);

// The loader by a step and its wait. Without workers the wait is all of a load; where the trainer waits for
// its workers, each of them loads all the time, and has a batch ready every so many steps as there are
// workers.
class ReadLoading final : public LoadingModel {
 public:
  explicit ReadLoading(const Observed& observed);  // which outlives it

  // The fewest workers of a card that hide all of the wait.
  std::int64_t keep_up() const { return keep_up(facts().compute_ns); }
  std::int64_t keep_up(double compute_ns) const;

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override;
  Bottleneck limit(const TrainingSettings& settings, double compute_ns,
                   std::optional<double> copy_ns) const override;
  std::string reason_to_wait(std::vector<std::string>& missing) const override;
  double host_bytes(const TrainingSettings& settings) const override;

 private:
  const Observed& observed_;
  TrainingSettings settings_;
  double step_ns_;
  LoadingLaw law_;          // in nanoseconds
  std::int64_t cores_ = 1;  // of a card's workers; as many as keep up where they were not read
};

}  // namespace bench
