#include "bench/advise/step_option.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "bench/advise/change_words.h"
#include "bench/stats/saturation.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

SettingBytes bytes_of(const StepModel& model, const StepOption& one) {
  return {.device = one.step.device_bytes,
          .device_cap = model.memory_cap(),
          .host = one.step.host_bytes,
          .host_cap = model.host_memory()};
}

// The smallest batch near the best that fits safely. `by`: a time of a sample.
std::optional<StepOption> best_batch(const StepModel& model, const TrainingSettings& now,
                                     TrainingSettings settings, double (StepOption::*by)() const) {
  const auto safe = model.safe_batch(settings.dtype);
  std::vector<StepOption> tried;
  for (const std::int64_t batch : model.batches(settings.dtype)) {
    if (!safe || batch <= *safe) {
      settings.batch = batch;
      tried.push_back(step_option(model, with_same_effective_batch(model, now, settings)));
    }
  }
  if (tried.empty()) {
    return std::nullopt;
  }
  const auto fastest = std::ranges::min_element(tried, {}, by);
  return *std::find_if(tried.begin(), fastest, [&](const StepOption& one) {
    return (one.*by)() * kSaturatedShare <= ((*fastest).*by)();
  });
}

bool holds_batch(const StepModel& model, const std::string& dtype, std::int64_t batch) {
  const auto batches = model.batches(dtype);
  return batch >= batches.front() && batch <= batches.back();
}

// Each dtype with its best batch and the workers that feed it; the fastest a sample. A dtype or a batch that
// brings nothing stays as it is.
StepOption best_of_all(const StepModel& model, const StepOption& now) {
  StepOption best = now;
  const auto better = [&](const std::optional<StepOption>& one) {
    if (one && best.sample_ns() > kWorthIt * one->sample_ns()) {
      best = *one;
    }
  };
  better(best_workers(model, now.settings));
  for (const std::string& dtype : model.dtypes()) {
    TrainingSettings settings = best.settings;
    settings.dtype = dtype;
    settings.pin = settings.pin || (model.crosses_bus() && model.knows_copies() &&
                                    model.copy_rate(true) > model.copy_rate(false));
    if (holds_batch(model, dtype, now.settings.batch)) {
      settings.batch = now.settings.batch;
      better(best_workers(model, settings));
    }
    // By the device alone: the workers that feed it come after it.
    if (const auto batch = best_batch(model, now.settings, settings, &StepOption::computing_ns)) {
      better(batch);
      better(best_workers(model, batch->settings));
    }
  }
  return best;
}

}  // namespace

bool pays(const Change& change) {
  return !change.at_most && change.speedup90 && is_worth(change.speedup, change.speedup90->low);
}

std::string pays_in_words(const Change& change) {
  const bool open = (change.speedup90 ? change.speedup90->high : change.speedup) >= kWorthIt;
  return pays(change) ? "yes" : open ? "not known" : "no";
}

Cell gain_cell(const Change& change) {
  return Cell::times(change.speedup, change.speedup90).after(change.at_most ? "at most " : "");
}

void add_change(Advice& advice, Change change) {
  (pays(change) ? advice.changes : advice.tried).push_back(std::move(change));
}

StepOption step_option(const StepModel& model, const TrainingSettings& settings) {
  return {.settings = settings, .step = model.at(settings)};
}

Ratio speedup(const StepOption& now, const StepOption& then) {
  const bool same_point =
      then.settings.batch == now.settings.batch && then.settings.dtype == now.settings.dtype;
  // Both use one measured time of the device: its error cancels in the ratio.
  const double device = same_point
                            ? std::abs(now.step.device_deviation - then.step.device_deviation)
                            : combined_deviation({now.step.device_deviation, then.step.device_deviation});
  // So do steps of one number of cards.
  const double exchange =
      now.settings.cards == then.settings.cards
          ? std::abs(now.step.exchange_deviation - then.step.exchange_deviation)
          : combined_deviation({now.step.exchange_deviation, then.step.exchange_deviation});
  const double deviation =
      combined_deviation({device, exchange, now.step.loading_deviation, then.step.loading_deviation});
  return deviating(now.sample_ns() / then.sample_ns(), deviation, kAdviceLevel);
}

bool is_at_most(const StepOption& now, const StepOption& then) {
  return then.step.parts.at_least || (then.step.is_bound && then.settings.cards > now.settings.cards);
}

double factor90(const StepOption& one) {
  return std::exp(kNormal90 * one.step.deviation());
}

std::vector<BudgetPart> budget_of(const StepOption& one, const std::string& computing) {
  const ModelledStep& step = one.step;
  std::vector<BudgetPart> budget{
      {computing, step.parts.computing_ns - step.launching_ns - step.exchanging_ns},
      {"launching", step.launching_ns},
      {"exchanging gradients", step.exchanging_ns},
      {"copying", step.parts.copying_ns},
      {"waiting for data", step.parts.waiting_ns},
      {"between steps", step.parts.handover_ns}};
  std::erase_if(budget, [&](const BudgetPart& part) { return part.ns < 0.001 * step.parts.step_ns; });
  return budget;
}

std::optional<StepOption> best_workers(const StepModel& model, TrainingSettings settings) {
  if (model.loading() == nullptr) {
    return std::nullopt;
  }
  constexpr double kKnee = 0.95;  // fewer workers do as measured where noise hides the rest: the sweep's knee
  const LoaderFacts& facts = model.loading()->facts();
  constexpr std::int64_t kMostSimulated = 32;
  const std::int64_t most =
      std::min(kMostSimulated, 2 * static_cast<std::int64_t>(std::ceil(facts.cores)) + 2);
  std::vector<std::int64_t> counts = facts.counts;
  for (std::int64_t workers = 0; facts.counts.empty() && workers <= most; workers += workers < 8 ? 1 : 4) {
    counts.push_back(workers);
  }
  std::vector<StepOption> tried;
  for (const std::int64_t workers : counts) {
    settings.workers = workers;
    tried.push_back(step_option(model, settings));
  }
  const auto fastest = std::ranges::min_element(tried, {}, &StepOption::sample_ns);
  return *std::find_if(tried.begin(), fastest, [&](const StepOption& one) {
    const bool hidden = one.step.parts.measured_deviation && speedup(one, *fastest).low() <= 1;
    return one.sample_ns() * (hidden ? kKnee : kNearBest) <= fastest->sample_ns();
  });
}

Change change_to(const StepModel& model, const StepOption& now, const StepOption& then) {
  Change change;
  change.what = changed_words(now.settings, then.settings);
  change.setting = pytorch_setting(
      now.settings, then.settings,
      {.on_gpu = model.crosses_bus(),
       .training = model.is_training(),
       .convolves_channels_last = !model.predicted() && model.task().options.contains("image-size"),
       .cards_of_a_host = model.cards_of_a_host(then.settings)});
  change.after = then.settings;
  change.step_ns = then.step.parts.step_ns;
  const Ratio gain = speedup(now, then);
  change.speedup = gain.value;
  const double factor = factor90(then);
  if (is_at_most(now, then)) {
    change.at_most = true;
    change.step_ns /= factor;
    change.speedup = gain.high();
  } else if (const auto& step90 = then.step.read90_ns) {
    const double as_now = now.sample_ns() * then.samples();
    change.step90_ns = step90;
    change.speedup90 = Interval{.low = as_now / step90->high, .high = as_now / step90->low};
  } else if (factor > 1) {  // a single reading has no spread
    change.step90_ns = Interval{.low = change.step_ns / factor, .high = change.step_ns * factor};
    change.speedup90 = gain.interval;
  }
  change.costs =
      costs_of(now.settings, then.settings, bytes_of(model, now), bytes_of(model, then), model.is_training());
  return change;
}

TrainingSettings with_same_effective_batch(const StepModel& model, const TrainingSettings& now,
                                           TrainingSettings then) {
  if (model.is_training() && then.batch > 0) {
    then.accumulate = std::max<std::int64_t>(1, now.effective_batch() / (then.batch * then.cards));
  }
  return then;
}

FoundChanges find_changes(const StepModel& model, const StepOption& now,
                          const std::vector<TrainingSettings>& asked) {
  const TrainingSettings& current = now.settings;
  FoundChanges found;
  const auto add = [&](const std::optional<StepOption>& one) {
    if (one && one->settings != current) {
      found.singles.push_back(*one);
    }
  };
  const auto consider = [&](const TrainingSettings& settings) { add(step_option(model, settings)); };
  add(best_workers(model, current));
  TrainingSettings other = current;
  other.prefetch *= 2;
  if (model.loading() != nullptr && !model.is_read() && current.workers > 0 &&
      other.prefetch <= kMostWorkers) {
    consider(other);
  }
  other = current;
  other.pin = !current.pin;
  if (model.crosses_bus() && model.knows_copies()) {
    consider(other);
  }
  add(best_batch(model, current, current, &StepOption::sample_ns));
  other = current;
  for (const std::string& dtype : model.dtypes()) {
    other.dtype = dtype;
    if (holds_batch(model, dtype, current.batch)) {
      consider(other);
    }
  }
  std::ranges::for_each(asked, consider);
  found.candidates = found.singles;
  const StepOption all = best_of_all(model, now);
  if (all.settings != current &&
      std::ranges::count(found.singles, all.settings, &StepOption::settings) == 0) {
    found.candidates.push_back(all);
  }
  found.paying = found.candidates;
  std::erase_if(found.paying, [&](const StepOption& one) {
    const Change change = change_to(model, now, one);
    return model.is_read() ? change.speedup <= 1 : !pays(change);
  });
  std::ranges::stable_sort(found.paying, {}, &StepOption::sample_ns);
  constexpr std::size_t kMost = 5;
  found.paying.resize(std::min(kMost, found.paying.size()));
  return found;
}

}  // namespace bench
