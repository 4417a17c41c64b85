// What limits a step under given settings, with the reason in words.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/change_words.h"
#include "bench/advise/step_option.h"
#include "bench/stats/memory_line.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::string samples_per_s(double rate) {
  constexpr double kThreeDigits = 100;
  return rate < kThreeDigits ? fmt::format("{:.3g} samples/s", rate) : fmt::format("{:.0f} samples/s", rate);
}

// Who makes the device wait for data; none where the wait is shorter than what may limit a step. Other
// programs on the cores that the workers need make a loader slow that is not.
std::optional<NamedBottleneck> wait_that_limits(const StepModel& model, const StepOption& now,
                                                std::vector<std::string>& missing) {
  const LoadedStep& parts = now.step.parts;
  if (model.loading() == nullptr || parts.waiting_ns < kLimits * parts.step_ns) {
    return std::nullopt;
  }
  const LoadingModel& loading = *model.loading();
  Bottleneck limit = model.loading_limit(now.settings);
  if (std::string reason = loading.reason_to_wait(missing); !reason.empty()) {
    return NamedBottleneck{limit, std::move(reason)};
  }
  const double waiting = 100 * parts.waiting_ns / parts.step_ns;
  const std::string step = format_duration(parts.step_ns);
  const double threads =
      std::min(loading.facts().cores, std::max(1.0, static_cast<double>(now.settings.workers)));
  const double taken =
      std::clamp((threads + loading.facts().other_cores - loading.facts().cores) / threads, 0.0, 1.0);
  limit = limit == Bottleneck::compute ? Bottleneck::loader_cpu : limit;
  const double undisturbed = (1 - taken) * (parts.step_ns - parts.copying_ns);
  if (limit == Bottleneck::loader_cpu && undisturbed * (1 - kCounts) < parts.computing_ns) {
    missing.emplace_back("the loader on an idle machine: bench --sweep workers");
    return NamedBottleneck{
        Bottleneck::undecided,
        fmt::format("The device waits {:.0f} % of a step of {}, but other programs kept {:.1f} of {:g} cores "
                    "busy while the loader was measured, which may be all of it.",
                    waiting, step, loading.facts().other_cores, loading.facts().cores)};
  }
  const double device_rate = static_cast<double>(now.settings.batch) / parts.computing_ns * 1e9;
  return NamedBottleneck{
      limit,
      fmt::format("With {} worker{} the device waits {:.0f} % of a step of {}; one worker loads {}, the "
                  "device takes {}.",
                  now.settings.workers, now.settings.workers == 1 ? "" : "s", waiting, step,
                  samples_per_s(loading.facts().samples_per_s_of_a_worker), samples_per_s(device_rate))};
}

class Diagnosis {
 public:
  Diagnosis(const StepModel& model, const StepOption& now, const std::vector<StepOption>& tried,
            const std::vector<StepOption>& paying)
      : model_(model), now_(now), tried_(tried), paying_(paying) {}

  // Adds readings that would decide.
  NamedBottleneck named(std::vector<std::string>& missing) const {
    const LoadedStep& parts = now_.step.parts;
    const auto share = [&](double ns) { return ns / parts.step_ns; };
    const std::string step = format_duration(parts.step_ns);
    if (now_.step.host_bytes > 0 && model_.host_memory() > 0 &&
        now_.step.host_bytes > 0.95 * model_.host_memory()) {
      return {Bottleneck::host_memory,
              fmt::format("{} workers with {} batches each need {} of the host's {}.", now_.settings.workers,
                          now_.settings.prefetch, format_bytes(std::llround(now_.step.host_bytes)),
                          format_bytes(std::llround(model_.host_memory())))};
    }
    if (model_.loading() != nullptr && model_.loading()->ran_out_of_memory(now_.settings)) {
      return {Bottleneck::host_memory,
              fmt::format("The host's memory did not hold the batches of {} workers when they were "
                          "measured.",
                          now_.settings.workers)};
    }
    if (const auto near = memory_nearly_full()) {
      return {Bottleneck::vram, *near};
    }
    if (auto wait = wait_that_limits(model_, now_, missing)) {
      return *std::move(wait);
    }
    const bool surely = fewer_workers_pay();
    if (share(slowed_by_workers()) >= kCounts && (surely || fewer_workers_seem_to_pay())) {
      return {
          Bottleneck::loader_cpu,
          fmt::format("{} the cores that compute: computing takes {} of a step of {}, and {} without {}{}.",
                      now_.settings.workers == 1 ? "1 worker uses"
                                                 : fmt::format("{} workers use", now_.settings.workers),
                      format_duration(parts.computing_ns), step,
                      format_duration(parts.computing_ns - slowed_by_workers()),
                      now_.settings.workers == 1 ? "it" : "them",
                      surely ? "" : " (noise leaves open how much fewer would bring)")};
    }
    if (share(parts.copying_ns) >= kCounts) {
      return {Bottleneck::bus,
              fmt::format("Copies to the device take {:.0f} % of a step of {}, not overlapped.",
                          100 * share(parts.copying_ns), step)};
    }
    if (share(now_.step.exchanging_ns) >= kLimits) {
      return {
          Bottleneck::link,
          fmt::format("Exchanging gradients between {} cards takes {:.0f} % of a step of {}, by prediction.",
                      now_.settings.cards, 100 * share(now_.step.exchanging_ns), step)};
    }
    // As a prediction's own findings say it.
    if (const double work = parts.computing_ns - now_.step.launching_ns; now_.step.host_ns > work) {
      return {Bottleneck::launch,
              fmt::format("Starting the operations of a step takes the host {}, the card's work {}.",
                          format_duration(now_.step.host_ns), format_duration(work))};
    }
    if (share(now_.step.launching_ns) >= kLaunchBound) {
      return {Bottleneck::launch,
              fmt::format("{:.0f} % of a step of {} goes into starting operations, whatever the batch.",
                          100 * share(now_.step.launching_ns), step)};
    }
    if (const auto stopped = memory_stops_the_batch()) {
      return {Bottleneck::vram, *stopped};
    }
    if (model_.loading() != nullptr) {
      if (auto read = model_.loading()->what_else_limits(missing)) {
        return *std::move(read);
      }
    }
    const bool other_device_step =
        model_.dtypes().size() > 1 || model_.batches(now_.settings.dtype).size() > 1;
    const bool nothing_else =
        paying_.empty() && !other_device_step && (model_.loading() == nullptr || model_.device() != nullptr);
    const auto open = paying_.empty() ? left_open_by_noise() : std::nullopt;
    if (nothing_else || open) {
      missing.emplace_back(nothing_else
                               ? "other batches, as twice the current one: bench --sweep batch --batch LIST"
                               : "the same sweep with a larger --time-budget, on an idle machine");
    }
    return {nothing_else || open ? Bottleneck::undecided
            : paying_.empty()    ? Bottleneck::none
                                 : Bottleneck::compute,
            fmt::format("Computing takes {:.0f} % of a step of {}{}.",
                        100 * share(parts.computing_ns - now_.step.exchanging_ns), step,
                        open              ? "; " + *open
                        : nothing_else    ? "; no other batch and no other dtype was measured"
                        : paying_.empty() ? "; no setting that was measured brings more"
                                          : "")};
  }

 private:
  // Time that computing takes longer than alone.
  double slowed_by_workers() const {
    return model_.loading() == nullptr || now_.settings.workers == 0
               ? 0
               : std::max(0.0, now_.step.parts.computing_ns - now_.step.device_ns);
  }

  bool has_fewer_workers(const StepOption& one) const {
    return one.settings.workers < now_.settings.workers && one.settings.batch == now_.settings.batch;
  }
  bool fewer_workers_pay() const {
    return std::ranges::any_of(paying_, [&](const StepOption& one) { return has_fewer_workers(one); });
  }
  bool fewer_workers_seem_to_pay() const {
    return std::ranges::any_of(tried_, [&](const StepOption& one) {
      return has_fewer_workers(one) && speedup(now_, one).value >= 1 + kLimits;
    });
  }

  // A setting that seems to bring much, and does not surely; or that noise lets bring as much.
  std::optional<std::string> left_open_by_noise() const {
    const auto told = [&](const StepOption& one, const char* seems) {
      const Ratio gain = speedup(now_, one);
      return fmt::format("{} {} {:.2f} times as fast, but noise leaves it open ({:.2f} to {:.2f})",
                         changed_words(now_.settings, one.settings), seems, gain.value, gain.low(),
                         gain.high());
    };
    const auto timed = [](const StepOption& one) { return !one.step.is_bound; };
    for (const StepOption& one : tried_ | std::views::filter(timed)) {
      if (speedup(now_, one).value >= 1 + kLimits) {
        return told(one, "seems to be");
      }
    }
    constexpr double kMuch = 1.5;  // a doubtful gain that would be worth measuring again for
    for (const StepOption& one : tried_ | std::views::filter(timed)) {
      if (speedup(now_, one).high() >= kMuch) {
        return told(one, "was");
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> memory_nearly_full() const {
    if (now_.step.device_bytes > 0 && model_.memory_cap() > 0 &&
        headroom(static_cast<double>(now_.step.device_bytes) / static_cast<double>(model_.memory_cap())) ==
            "danger") {
      return fmt::format(
          "The step takes {} of {}; above 95 % a longer sequence or another algorithm ends it.",
          format_bytes(now_.step.device_bytes), format_bytes(model_.memory_cap()));
    }
    return std::nullopt;
  }

  // A larger batch would bring something, and does not fit safely; one that does brings nothing.
  std::optional<std::string> memory_stops_the_batch() const {
    const auto safe = model_.safe_batch(now_.settings.dtype);
    const bool larger_pays = std::ranges::any_of(
        paying_, [&](const StepOption& one) { return one.settings.batch > now_.settings.batch; });
    const std::int64_t twice = 2 * now_.settings.batch;
    const auto gain = gain_of_twice_the_batch();
    if (!safe || larger_pays || twice <= *safe || !gain ||
        gain->share < (gain->certain ? kCounts : kLimits)) {
      return std::nullopt;
    }
    return fmt::format("Batch {} {} {:.0f} % less time a sample{}, and {} fit safely into {}.", twice,
                       gain->certain ? "would take" : "seems to take", 100 * gain->share,
                       gain->certain ? "" : " (noise leaves it open)", *safe,
                       format_bytes(model_.memory_cap()));
  }

  struct Gain {
    double share = 0;  // of a sample's time
    bool certain = true;
  };

  // As measured, where so large a batch fits at all; else by the fixed part of a step: the fit's, or that of
  // the line through this batch and half of it. None where noise leaves that part open.
  std::optional<Gain> gain_of_twice_the_batch() const {
    const std::vector<std::int64_t> batches = model_.batches(now_.settings.dtype);
    const auto measured = [&](std::int64_t batch) { return std::ranges::count(batches, batch) > 0; };
    TrainingSettings settings = now_.settings;
    settings.batch = 2 * now_.settings.batch;
    if (measured(settings.batch)) {
      const Ratio times = speedup(now_, step_option(model_, settings));
      return Gain{.share = 1 - 1 / times.value, .certain = times.low() > 1};
    }
    if (now_.step.fixed_ns > 0) {
      return Gain{.share = now_.step.fixed_ns / 2 / now_.step.parts.step_ns};
    }
    settings.batch = now_.settings.batch / 2;
    if (!measured(settings.batch) || now_.settings.batch % 2 != 0) {
      return std::nullopt;
    }
    const ModelledStep half = model_.at(settings);
    const double fixed = 2 * half.device_ns - now_.step.device_ns;
    const double error = kNormal90 * combined_deviation({2 * half.device_ns * half.device_deviation,
                                                         now_.step.device_ns * now_.step.device_deviation});
    return fixed > error ? std::optional(Gain{.share = fixed / 2 / now_.step.parts.step_ns}) : std::nullopt;
  }

  const StepModel& model_;
  const StepOption& now_;
  const std::vector<StepOption>& tried_;
  const std::vector<StepOption>& paying_;
};

}  // namespace

NamedBottleneck diagnose(const StepModel& model, const StepOption& now, const std::vector<StepOption>& tried,
                         const std::vector<StepOption>& paying, std::vector<std::string>& missing) {
  return Diagnosis(model, now, tried, paying).named(missing);
}

}  // namespace bench
