#include "bench/advise/results_advice.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/change_words.h"
#include "bench/advise/step_option.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

class Adviser {
 public:
  Adviser(const StepModel& model, const TrainingSettings& current, const std::vector<std::int64_t>& cards)
      : model_(model),
        now_(step_option(model, current)),
        found_(find_changes(model, now_, with_cards(model, current, cards))) {}

  Advice advice() {
    Advice advice;
    advice.subject = subject();
    advice.basis = basis();
    advice.current = now_.settings;
    advice.step_ns = now_.step.parts.step_ns;
    advice.budget = budget_of(now_);
    const NamedBottleneck named = diagnose(model_, now_, found_.singles, found_.paying, advice.missing);
    advice.bottleneck = named.bottleneck;
    advice.reason = named.reason;
    std::ranges::transform(found_.paying, std::back_inserter(advice.changes),
                           [&](const StepOption& one) { return change_to(one); });
    for (const StepOption& one : found_.singles) {
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

  static std::vector<TrainingSettings> with_cards(const StepModel& model, const TrainingSettings& current,
                                                  const std::vector<std::int64_t>& cards) {
    std::vector<TrainingSettings> asked;
    for (const std::int64_t count : cards) {
      TrainingSettings settings = current;
      settings.cards = count;
      asked.push_back(with_same_effective_batch(model, current, settings));
      model.check(asked.back());
    }
    return asked;
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
    for (const StepOption& one : found_.candidates) {
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
    const auto bound = std::ranges::find_if(found_.singles.rbegin(), found_.singles.rend(),
                                            [&](const StepOption& one) { return is_at_most(now_, one); });
    if (bound != found_.singles.rend()) {
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
      for (const StepOption& one : found_.paying) {
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
  FoundChanges found_;
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
