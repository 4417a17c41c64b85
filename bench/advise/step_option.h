// Settings with the step that they give: what advice compares, and the search of those that pay.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/stats/ratio.h"

namespace bench {

// A gain that pays: so many times as fast, and surely more than 1, which is printed as 1.01 then.
inline constexpr double kWorthIt = 1.03;
inline constexpr double kSurely = 1.005;
constexpr bool is_worth(double speedup, double low) {
  return speedup >= kWorthIt && low >= kSurely;
}

// Surely brings something; one that brings at most so much may bring nothing.
bool pays(const Change& change);
std::string pays_in_words(const Change& change);  // "yes", "no"; "not known" where it is not excluded
Cell gain_cell(const Change& change);             // "1.20 (1.10–1.30)", "at most 1.20"
// Among those that pay, or those that were tried.
void add_change(Advice& advice, Change change);

// Of the best throughput: where fewer workers do. Of batches it is kSaturatedShare.
inline constexpr double kNearBest = 0.98;

inline constexpr double kCounts = 0.05;         // of a step: what is worth a name
inline constexpr double kLimits = 2 * kCounts;  // and what may be what limits it
inline constexpr double kLaunchBound = 0.3;     // launching that takes so much limits it

struct StepOption {
  TrainingSettings settings;
  ModelledStep step;

  // Of all cards; a batch that was not read counts as one sample.
  double samples() const {
    return static_cast<double>(std::max<std::int64_t>(1, settings.batch) * settings.cards);
  }
  double sample_ns() const { return step.parts.step_ns / samples(); }
  double computing_ns() const { return step.parts.computing_ns / samples(); }
};

// Throws UsageError as StepModel::at() does.
StepOption step_option(const StepModel& model, const TrainingSettings& settings);

// The time of a sample now over that of a sample then, at kAdviceLevel.
Ratio speedup(const StepOption& now, const StepOption& then);
// Nobody measured all that it costs: it brings no more.
bool is_at_most(const StepOption& now, const StepOption& then);
// Between a step's time and the ends of its 90 % interval.
double factor90(const StepOption& one);

// `computing`: what of it is known.
std::vector<BudgetPart> budget_of(const StepOption& one, const std::string& computing = "computing");
// The fewest workers near the best; none where no loader is known.
std::optional<StepOption> best_workers(const StepModel& model, TrainingSettings settings);
// Without its evidence.
Change change_to(const StepModel& model, const StepOption& now, const StepOption& then);

// In training fewer accumulations where a batch or the cards grow, so that the optimizer sees what it saw.
TrainingSettings with_same_effective_batch(const StepModel& model, const TrainingSettings& now,
                                           TrainingSettings then);

struct FoundChanges {
  std::vector<StepOption> singles{};     // one setting changed each, as is best
  std::vector<StepOption> candidates{};  // these, and the best of all together
  std::vector<StepOption> paying{};      // of the candidates, the fastest first
};
// Every search for a change: workers, prefetch, pinning, batch, dtype, and what `asked` names, such as more
// cards. A gain by results pays where it is sure; a single reading has no spread, and what it may bring is
// kept.
FoundChanges find_changes(const StepModel& model, const StepOption& now,
                          const std::vector<TrainingSettings>& asked);

// What limits the step, with the reason in words. Adds readings that would decide. `tried`: each setting
// changed alone, as is best. `paying`: the changes that pay.
NamedBottleneck diagnose(const StepModel& model, const StepOption& now, const std::vector<StepOption>& tried,
                         const std::vector<StepOption>& paying, std::vector<std::string>& missing);

}  // namespace bench
