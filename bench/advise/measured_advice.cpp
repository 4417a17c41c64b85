#include "bench/advise/measured_advice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/change_words.h"
#include "bench/advise/diagnosis.h"
#include "bench/advise/published_scaling.h"
#include "bench/advise/step_option.h"
#include "bench/stats/memory_line.h"
#include "bench/stats/saturation.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

class Adviser {
 public:
  Adviser(const StepModel& model, const TrainingSettings& current, const std::vector<std::int64_t>& cards)
      : model_(model), now_{.settings = current, .step = model.at(current)}, cards_(cards) {}

  Advice advice() {
    Advice advice;
    advice.subject = subject();
    advice.basis = basis();
    advice.current = now_.settings;
    advice.step_ns = now_.step.parts.step_ns;
    advice.budget = budget_of(now_);
    find_changes();
    const NamedBottleneck named = diagnose(model_, now_, singles_, paying_, advice.missing);
    advice.bottleneck = named.bottleneck;
    advice.reason = named.reason;
    std::ranges::transform(paying_, std::back_inserter(advice.changes),
                           [&](const StepOption& one) { return change_to(one); });
    for (const StepOption& one : singles_) {
      if (!pays(one)) {
        advice.tried.push_back(change_to(one));
      }
    }
    advice.tables.push_back(what_was_tried());
    ask(advice);
    return advice;
  }

 private:
  // Without a batch result a workers result's consumer tells the step: a network, or a time.
  std::string subject() const {
    const std::string what = printable(model_.task().workload);
    const bool is_time =
        model_.device() == nullptr && !what.empty() && what.front() >= '0' && what.front() <= '9';
    return fmt::format("{}{}, {} in {} at batch {}{}", is_time ? "a device that takes " : "", what,
                       model_.is_training()            ? "training"
                       : model_.task().mode == "infer" ? "inference"
                                                       : model_.task().mode,
                       now_.settings.dtype, now_.settings.batch,
                       model_.device() != nullptr ? " on " + printable(model_.device()->name) : "");
  }

  std::string basis() const {
    std::vector<std::string> from;
    for (const std::string& sweep : advising_sweeps()) {
      if (!model_.file_of(sweep).empty()) {
        from.push_back(sweep);
      }
    }
    return fmt::format(
        "{} {}; combined by simulation",
        model_.predicted() ? "device predicted, host measured:" : "measured:", fmt::join(from, ", "));
  }

  StepOption option(const TrainingSettings& settings) const { return step_option(model_, settings); }

  // The smallest batch near the best that fits safely. `by`: a time of a sample.
  std::optional<StepOption> best_batch(TrainingSettings settings, double (StepOption::*by)() const) const {
    const auto safe = model_.safe_batch(settings.dtype);
    std::vector<StepOption> tried;
    for (const std::int64_t batch : model_.batches(settings.dtype)) {
      if (!safe || batch <= *safe) {
        settings.batch = batch;
        tried.push_back(option(with_same_effective_batch(settings)));
      }
    }
    if (tried.empty()) {
      return std::nullopt;
    }
    const auto fastest = std::ranges::min_element(tried, {}, by);
    return *std::ranges::find_if(
        tried, [&](const StepOption& one) { return (one.*by)() * kSaturatedShare <= ((*fastest).*by)(); });
  }

  // In training fewer accumulations where the batch grows, so that the optimizer sees what it saw.
  TrainingSettings with_same_effective_batch(TrainingSettings settings) const {
    if (!model_.is_training()) {
      return settings;
    }
    settings.accumulate =
        std::max<std::int64_t>(1, now_.settings.effective_batch() / (settings.batch * settings.cards));
    return settings;
  }

  void find_changes() {
    const TrainingSettings& current = now_.settings;
    if (const auto workers = best_workers(model_, current)) {
      singles_.push_back(*workers);
    }
    const auto consider = [&](const auto& change) {
      TrainingSettings settings = current;
      change(settings);
      singles_.push_back(option(settings));
    };
    if (model_.loading() != nullptr && current.workers > 0 && 2 * current.prefetch <= kMostWorkers) {
      consider([](TrainingSettings& settings) { settings.prefetch *= 2; });
    }
    if (model_.crosses_bus() && model_.knows_copies()) {
      consider([](TrainingSettings& settings) { settings.pin = !settings.pin; });
    }
    if (const auto batch = best_batch(current, &StepOption::sample_ns)) {
      singles_.push_back(*batch);
    }
    for (const std::string& dtype : model_.dtypes()) {
      const auto batches = model_.batches(dtype);
      if (dtype != current.dtype && current.batch >= batches.front() && current.batch <= batches.back()) {
        consider([&](TrainingSettings& settings) { settings.dtype = dtype; });
      }
    }
    for (const std::int64_t cards : cards_) {
      consider([&](TrainingSettings& settings) {
        settings.cards = cards;
        settings = with_same_effective_batch(settings);
        model_.check(settings);
      });
    }
    std::erase_if(singles_, [&](const StepOption& one) { return one.settings == current; });
    candidates_ = singles_;
    const StepOption all = best_of_all();
    if (all.settings != now_.settings &&
        std::ranges::none_of(singles_, [&](const StepOption& one) { return one.settings == all.settings; })) {
      candidates_.push_back(all);
    }
    std::vector<StepOption> by_time = candidates_;
    std::ranges::stable_sort(by_time, {}, &StepOption::sample_ns);
    constexpr std::size_t kMost = 5;
    for (const StepOption& one : by_time) {
      if (pays(one) && paying_.size() < kMost) {
        paying_.push_back(one);
      }
    }
  }

  // Each dtype with its best batch and the workers that feed it; the fastest a sample. A dtype or a batch
  // that brings nothing stays as it is.
  StepOption best_of_all() const {
    StepOption best = now_;
    const auto better = [&](const std::optional<StepOption>& one) {
      if (one && best.sample_ns() > kWorthIt * one->sample_ns()) {
        best = *one;
      }
    };
    better(best_workers(model_, now_.settings));
    for (const std::string& dtype : model_.dtypes()) {
      const auto batches = model_.batches(dtype);
      TrainingSettings settings = best.settings;
      settings.dtype = dtype;
      settings.pin = settings.pin || (model_.crosses_bus() && model_.knows_copies() &&
                                      model_.copy_rate(true) > model_.copy_rate(false));
      if (now_.settings.batch >= batches.front() && now_.settings.batch <= batches.back()) {
        settings.batch = now_.settings.batch;
        better(best_workers(model_, settings));
      }
      // By the device alone: the workers that feed it come after it.
      if (const auto batch = best_batch(settings, &StepOption::computing_ns)) {
        better(batch);
        better(best_workers(model_, batch->settings));
      }
    }
    return best;
  }

  bool pays(const StepOption& then) const { return bench::pays(bench::change_to(model_, now_, then)); }

  Change change_to(const StepOption& then) const {
    Change change = bench::change_to(model_, now_, then);
    for (const char* const sweep : {"batch", "workers", "transfer"}) {
      const std::string& file = model_.file_of(sweep);
      const bool used = std::string(sweep) == "batch"     ? true
                        : std::string(sweep) == "workers" ? model_.loading() != nullptr
                                                          : then.settings.pin != now_.settings.pin;
      if (!file.empty() && used) {
        change.evidence.push_back(file);
      }
    }
    if (then.settings.cards > 1 && model_.link() != nullptr) {
      change.evidence.push_back("predicted over " + model_.link()->in_words());
      change.evidence.push_back(then.step.loss ? "steps " + then.step.loss->in_words() : kUnknownLoss);
    }
    return change;
  }

  AdviceTable what_was_tried() const {
    AdviceTable table{.question = "What was tried, by simulation of the step"};
    table.table.rows = {
        {"change", "step", "a sample", "times as fast (90 %)", "pays"},
        {"as it is", Cell::time(now_.step.parts.step_ns), Cell::time(now_.sample_ns()), Cell(), ""}};
    for (const StepOption& one : candidates_) {
      const Change change = bench::change_to(model_, now_, one);
      const auto time = [&](double ns) { return Cell::time(ns).after(change.at_most ? "≥ " : ""); };
      const auto samples = static_cast<double>(change.after.batch * change.after.cards);
      table.table.rows.push_back({change.what, time(change.step_ns), time(change.step_ns / samples),
                                  gain_cell(change), pays_in_words(change)});
    }
    return table;
  }

  void ask(Advice& advice) const {
    if (model_.loading() == nullptr) {
      advice.missing.emplace_back("the loader: bench --sweep workers (here loading counts as hidden)");
    }
    constexpr double kKnown = 1.5;  // times
    if (const double factor = factor90(now_); factor > kKnown) {
      advice.warnings.push_back(fmt::format(
          "A step of {} may take {} to {} (90 %): {}.", format_duration(now_.step.parts.step_ns),
          format_duration(now_.step.parts.step_ns / factor),
          format_duration(now_.step.parts.step_ns * factor),
          model_.predicted() ? "measure it on the device" : "measure it again with a larger --time-budget"));
    }
    const auto bound = std::ranges::find_if(singles_.rbegin(), singles_.rend(),
                                            [&](const StepOption& one) { return is_at_most(now_, one); });
    if (bound != singles_.rend()) {
      advice.missing.push_back(fmt::format(
          "what {} cards lose in the hosts, the loaders and the framework, so that they are at most {:.2f} "
          "times as fast: bench --sweep cards over two such hosts, then its file in place of the batch "
          "result",
          bound->settings.cards, speedup(now_, *bound).high()));
    }
    if (model_.device() == nullptr) {
      advice.missing.emplace_back("other batches and dtypes: bench --sweep batch --mode train");
    }
    if (model_.crosses_bus() && !model_.knows_copies()) {
      advice.missing.emplace_back("whether pinning pays: bench --sweep transfer");
    }
    if (model_.loading() != nullptr && model_.device() != nullptr && !model_.crosses_bus() &&
        !model_.loading()->facts().measured_on_cores) {
      advice.warnings.emplace_back(
          "Workers and device share the host's cores, in equal parts by assumption; bench --sweep workers "
          "with the "
          "network as its consumer measures it.");
    }
    if (model_.loading() != nullptr) {
      std::int64_t most = now_.settings.workers;
      for (const StepOption& one : paying_) {
        most = std::max(most, one.settings.workers);
      }
      if (most > model_.loading()->facts().most_workers) {
        advice.warnings.push_back(fmt::format("{} workers are extrapolated from at most {} measured ones.",
                                              most, model_.loading()->facts().most_workers));
      }
    }
    if (now_.settings.cards > 1 && !model_.is_training()) {
      advice.warnings.push_back(
          fmt::format("{} cards count as {} copies of the network, each with its share of the samples, which "
                      "one host feeds.",
                      now_.settings.cards, now_.settings.cards));
    }
    if (!model_.crosses_bus() && model_.link() != nullptr && model_.device() != nullptr) {
      const bool apart = model_.cards_of_a_host({.cards = 2}) == 1;
      advice.warnings.emplace_back(
          apart ? "On a CPU each further card counts as another host like this one, which has its own loader."
                : "Ranks of one CPU share its cores: a step measured on all of them is too short for one "
                  "rank.");
    }
    const bool several = now_.settings.cards > 1 && model_.is_training();
    if (several && model_.link() == nullptr) {
      advice.warnings.push_back(
          fmt::format("What {} cards exchange after each step is not counted; {}, less without NVLink.",
                      now_.settings.cards, published_scaling_in_words()));
    }
    if (now_.settings.accumulate > 1) {
      advice.warnings.emplace_back(
          "A step here is one accumulation with its update; the other accumulations save the update.");
    }
  }

  const StepModel& model_;
  StepOption now_;
  std::vector<std::int64_t> cards_;       // to consider
  std::vector<StepOption> singles_{};     // one setting changed each
  std::vector<StepOption> candidates_{};  // and the best of all together
  std::vector<StepOption> paying_{};
};

}  // namespace

Advice advice_from(const StepModel& model, TrainingSettings current, const std::vector<std::int64_t>& cards) {
  std::optional<std::string> assumed;
  if (current.batch == 0) {
    const auto batches = model.batches(model.dtypes().front());
    current.batch = model.loading() != nullptr ? model.loading()->facts().measured.batch : batches.front();
    if (model.loading() != nullptr && model.device() != nullptr) {
      current.batch = std::clamp(current.batch, batches.front(), batches.back());
    }
    assumed = fmt::format("The batch was not given: {} is assumed; give --current batch=…", current.batch);
  }
  model.check(current);
  Advice advice = Adviser(model, current, cards).advice();
  if (assumed) {
    advice.warnings.push_back(*assumed);
  }
  return advice;
}

}  // namespace bench
