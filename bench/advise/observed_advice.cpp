#include "bench/advise/observed_advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"

namespace bench {

std::string hours_in_words(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 24 * kHour;
  return seconds < 2 * kMinute ? fmt::format("{:.3g} s", seconds)
         : seconds < 2 * kHour ? fmt::format("{:.1f} min", seconds / kMinute)
         : seconds < 2 * kDay  ? fmt::format("{:.1f} h", seconds / kHour)
                               : fmt::format("{:.1f} h ({:.1f} days)", seconds / kHour, seconds / kDay);
}

std::string gib_in_words(double bytes) {
  return fmt::format("{:.2f} GiB", bytes / 0x1p30);
}

std::string share_in_words(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string seconds_in_words(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

std::optional<double> accumulation_s(const Observed& observed) {
  if (!observed.step_s) {
    return std::nullopt;
  }
  const auto accumulate = static_cast<double>(observed.settings.accumulate);
  if (observed.settings.accumulate == 1 && observed.has_accumulate) {
    return observed.step_s;
  }
  if (!observed.has_accumulate) {
    return observed.step_is_optimizer.value_or(false) ? std::nullopt : observed.step_s;
  }
  if (!observed.step_is_optimizer) {
    return std::nullopt;
  }
  return *observed.step_is_optimizer ? *observed.step_s / accumulate : *observed.step_s;
}

std::optional<double> sample_s(const Observed& observed) {
  const auto step = accumulation_s(observed);
  const std::int64_t samples = observed.settings.batch * observed.settings.cards;
  return step && samples > 0 ? std::optional(*step / static_cast<double>(samples)) : std::nullopt;
}

namespace {

void check_elapsed(const Observed& observed, Advice& advice) {
  const std::int64_t done = observed.iterations_done.value_or(0);
  if (!observed.elapsed_s || !observed.step_s || done == 0) {
    return;
  }
  const double mean = *observed.elapsed_s / static_cast<double>(done);
  constexpr double kTolerance = 0.05;
  if (std::abs(mean - *observed.step_s) > kTolerance * *observed.step_s) {
    advice.contradictions.push_back(fmt::format(
        "{} iterations in {} are {} each, but the step is given as {}.", done,
        hours_in_words(*observed.elapsed_s), seconds_in_words(mean), seconds_in_words(*observed.step_s)));
  }
}

void ask_for_times(const Observed& observed, Advice& advice) {
  if (!observed.step_s) {
    advice.missing.emplace_back(
        "step_ms: the time of a step, with the device synchronised before each clock reading");
  } else if (!observed.has_accumulate && observed.step_is_optimizer.value_or(false)) {
    advice.missing.emplace_back("accumulate: how many accumulations an optimizer step has; 1 without");
  } else if (!accumulation_s(observed)) {
    advice.missing.push_back(
        fmt::format(R"(step_is: is the step of {} an "optimizer_step" or one "accumulation" of its {}?)",
                    seconds_in_words(*observed.step_s), observed.settings.accumulate));
  }
  if (!observed.data_s && observed.mode == "train") {
    advice.missing.emplace_back(
        "data_ms: how long each step waits for its batch, timed around next() of the DataLoader");
  }
}

void fill_budget(const Observed& observed, Advice& advice) {
  constexpr double kNs = 1e9;
  const auto step = accumulation_s(observed);
  advice.step_ns = step ? kNs * *step : 0;
  if (step && observed.data_s) {
    const double share = *observed.data_s / *observed.step_s;
    advice.budget = {{"waiting for data", kNs * *step * share},
                     {"computing, copying and launching", kNs * *step * (1 - share)}};
  }
}

// What each part of the answer rests on.
std::string basis_of(const Observed& observed, const std::optional<StandIn>& stand_in, bool replayed,
                     const std::optional<StandInRun>& run) {
  return fmt::format(
      "arithmetic on the readings of {}{}{}", observed.source,
      !stand_in || stand_in->plans.empty()
          ? ""
          : fmt::format("; memory{} of a stand-in, {}",
                        replayed ? " by the plan and waiting for gradients by the replay" : " by the plan",
                        stand_in->name),
      run ? fmt::format("; layers over cards measured on a stand-in ({})", run->path)
          : "; nothing was measured here");
}

void add_run(const StandInRun& run, Advice& advice) {
  AdviceTable table{.question = "What did a stand-in show? Measured", .table = {}, .notes = run.findings};
  table.notes.push_back(fmt::format("By {}: another network, on another machine.", run.path));
  advice.tables.push_back(std::move(table));
}

}  // namespace

Advice advice_from_readings(const Observed& observed, const std::optional<StandIn>& stand_in,
                            const std::optional<StandInRun>& run) {
  Advice advice;
  advice.subject = !observed.subject.empty()  ? observed.subject
                   : observed.mode == "infer" ? "an inference run"
                                              : "a training run";
  advice.current = observed.settings;
  fill_budget(observed, advice);
  check_elapsed(observed, advice);
  std::optional<NamedBottleneck> named = advise_host(observed, advice);
  for (const auto& part : {advise_loading, advise_memory}) {
    const auto one = part(observed, advice);
    named = named ? named : one;
  }
  if (named) {
    advice.bottleneck = named->bottleneck;
    advice.reason = named->reason;
  } else {
    advice.reason = "The readings do not tell where a step's time goes.";
  }
  advise_training_time(observed, advice);
  advise_cards(observed, advice);
  advise_proposal(observed, advice);
  advise_split(observed, advice);
  if (run) {
    add_run(*run, advice);
  }
  const bool replayed = stand_in && advise_stand_in(observed, *stand_in, advice);
  advice.basis = basis_of(observed, stand_in, replayed, run);
  ask_for_times(observed, advice);
  std::ranges::stable_sort(advice.changes, std::ranges::greater{}, &Change::speedup);
  return advice;
}

}  // namespace bench
