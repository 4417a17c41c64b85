#include "bench/advise/observed_advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/advise/observed_parts.h"
#include "bench/dtype.h"
#include "bench/result/json_text.h"
#include "bench/run/gpu_files.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

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
  if (seconds == 0) {
    return "0 s";
  }
  constexpr double kNsPerS = 1e9;
  const Scale scale = duration_scale(kNsPerS * seconds);
  return fmt::format("{:.3g} {}", kNsPerS * seconds / scale.by, scale.prefix);
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

const Gpu* card_of(const Observed& observed) {
  return observed.device.empty() ? nullptr : gpu_catalogue().find_called(observed.device);
}

namespace {

void check_elapsed(const Observed& observed, Advice& advice) {
  const std::int64_t done = observed.iterations_done.value_or(0);
  if (!observed.elapsed_s || !observed.step_s || done == 0) {
    return;
  }
  const double inside = *observed.elapsed_s - observed.outside_s.value_or(0);
  const double mean = inside / static_cast<double>(done);
  constexpr double kTolerance = 0.05;
  const std::string each =
      fmt::format("{} iterations in {} are {} each, but the step is given as {}", done,
                  hours_in_words(inside), seconds_in_words(mean), seconds_in_words(*observed.step_s));
  if (mean < (1 - kTolerance) * *observed.step_s) {
    advice.contradictions.push_back(each + ".");
  } else if (mean > (1 + kTolerance) * *observed.step_s) {
    advice.warnings.push_back(fmt::format(
        "{}: {} of the time lie {} (validation, checkpoints, the start), which no change of a step shortens.",
        each, share_in_words(1 - *observed.step_s / mean),
        observed.outside_s ? "outside of steps too" : "outside of steps"));
  }
}

// Bytes of weights and, in training, gradients and the optimizer's values, at the least: autocast keeps them
// in fp32, and a model that is cast whole takes half.
double least_bytes(const Observed& observed) {
  const bool is_train = observed.mode == "train";
  const double values = !is_train                                ? 1
                        : observed.optimizer.starts_with("adam") ? 4
                        : observed.optimizer == "momentum"       ? 3
                                                                 : 2;
  const bool is_narrow = observed.settings.dtype == "fp16" || observed.settings.dtype == "bf16";
  return observed.parameters.value_or(0) * values * (is_narrow ? 2 : 4);
}

// Readings beyond what the card computes and what its memory holds.
void check_peaks(const Observed& observed, Advice& advice) {
  const auto step = accumulation_s(observed);
  const Gpu* const gpu = card_of(observed);
  if (!observed.device.empty() && gpu == nullptr) {
    advice.warnings.push_back(
        fmt::format("The card {} is not in the catalogue (bench --list --gpus).", quote(observed.device)));
  }
  if (gpu != nullptr && observed.flops_a_sample && step && observed.settings.batch > 0) {
    const double computing = *step - observed.data_s.value_or(0) * *step / *observed.step_s;
    const double reached =
        *observed.flops_a_sample * static_cast<double>(observed.settings.batch) / computing;
    double peak = 0;  // PyTorch convolves fp32 in tf32 where a card can
    for (const auto& [dtype, rate] : gpu->flops_per_s) {
      const bool may_be = !observed.has_dtype || name_of(dtype) == observed.settings.dtype ||
                          dtype == Dtype::fp32 || (dtype == Dtype::tf32 && observed.settings.dtype == "fp32");
      peak = may_be ? std::max(peak, rate) : peak;
    }
    if (reached > peak) {
      advice.contradictions.push_back(
          fmt::format("{:.3g} TFLOP a step in {} are {:.3g} TFLOP/s, more than the {:.3g} of a {}: the step, "
                      "its batch or its work "
                      "is another, or the clock stopped before the card did.",
                      *observed.flops_a_sample * static_cast<double>(observed.settings.batch) / 1e12,
                      seconds_in_words(computing), reached / 1e12, peak / 1e12, display_name(*gpu)));
    }
  }
  if (observed.parameters && observed.settings.cards == 1 && !observed.memory.empty() &&
      observed.memory.front() < least_bytes(observed)) {
    advice.contradictions.push_back(fmt::format(
        "{:.4g} million parameters take {} at least, but the card uses {}.", *observed.parameters / 1e6,
        gib_in_words(least_bytes(observed)), gib_in_words(observed.memory.front())));
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

void fill_budget(const ReadStep& read, Advice& advice) {
  const auto step = accumulation_s(read.observed);
  advice.step_ns = 1e9 * step.value_or(0);
  if (step && read.observed.data_s) {
    advice.budget = budget_of(read.now, "computing, copying and launching");
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
  AdviceTable table{.question = "What did a stand-in show? Measured", .notes = run.findings};
  table.notes.push_back(fmt::format("By {}: another network, on another machine.", run.path));
  advice.tables.push_back(std::move(table));
}

Advice answer(const Observed& observed, const std::optional<StandIn>& stand_in,
              const std::optional<StandInRun>& run) {
  Advice advice;
  advice.subject = !observed.subject.empty()  ? observed.subject
                   : observed.mode == "infer" ? "an inference run"
                                              : "a training run";
  advice.current = observed.settings;
  const ReadStep read(observed);
  fill_budget(read, advice);
  check_elapsed(observed, advice);
  std::optional<NamedBottleneck> named = advise_host(read, advice);
  const std::optional<NamedBottleneck> by_loading = advise_loading(read, advice);
  const std::optional<NamedBottleneck> by_memory = advise_memory(observed, advice);
  const std::optional<NamedBottleneck> by_cards = compare_earlier_run(observed, advice);
  for (const auto& one : {by_loading, by_memory, by_cards}) {
    // What is undecided by one question may be decided by another.
    const bool decides =
        one &&
        (!named || (named->bottleneck == Bottleneck::undecided && one->bottleneck != Bottleneck::undecided));
    named = decides ? one : named;
  }
  check_peaks(observed, advice);
  if (named) {
    advice.bottleneck = named->bottleneck;
    advice.reason = named->reason;
    if (by_cards && by_cards->reason != named->reason && named->bottleneck == Bottleneck::undecided) {
      advice.reason += " " + by_cards->reason;
    }
  } else if (advice.reason.empty()) {
    advice.reason = "The readings do not tell where a step's time goes.";
  }
  advise_training_time(observed, advice);
  advise_cards(read, advice);
  advise_proposal(read, advice);
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

// A reading is used where the answer is another without it.
std::vector<std::string> unused_readings(const Observed& observed, const std::optional<StandIn>& stand_in,
                                         const std::optional<StandInRun>& run, const Advice& advice) {
  const auto in_words = [](const Advice& one) {
    Json json = advice_json(one);
    for (const char* const told : {"subject", "basis", "current"}) {
      json.erase(told);
    }
    for (Json& change : json["changes"]) {
      change.erase("after");
    }
    return json.dump();
  };
  const std::string whole = in_words(advice);
  const Json given = parse_json(observed.text, observed.source);
  std::vector<std::string> unused;
  for (const auto& [key, value] : given.items()) {
    if (key.starts_with('_') || key == "subject" || key == "mode" || key.starts_with("stand_in")) {
      continue;
    }
    Json rest = given;
    rest.erase(key);
    try {
      if (in_words(answer(parse_observed(rest.dump(), observed.source), stand_in, run)) == whole) {
        unused.push_back(key);
      }
    } catch (const UsageError&) {
      // The other readings make no sense without it.
    }
  }
  return unused;
}

}  // namespace

Advice advice_from_readings(const Observed& observed, const std::optional<StandIn>& stand_in,
                            const std::optional<StandInRun>& run) {
  Advice advice = answer(observed, stand_in, run);
  if (const auto unused = unused_readings(observed, stand_in, run, advice); !unused.empty()) {
    advice.warnings.push_back(
        fmt::format("These readings change nothing here: {}.", fmt::join(unused, ", ")));
  }
  return advice;
}

}  // namespace bench
