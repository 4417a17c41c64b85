// The loader of a step that was read, by steps under one count of workers or several, as the step model takes
// it, and what the host has cores for.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"
#include "bench/advise/step_option.h"
#include "bench/stats/fit.h"

namespace bench {
namespace {

// "with 8 workers a step took 77 ms: 2 are too few"
std::string faster_in_words(const Observed& observed, const TimedRun& faster) {
  const std::int64_t now = observed.settings.workers;
  return fmt::format("with {} worker{} a step took {}: {} {}", faster.count, faster.count == 1 ? "" : "s",
                     seconds_in_words(faster.step_s), now,
                     faster.count > now ? (now == 1 ? "is too few" : "are too few")
                                        : "are too many, which compete for cores or storage");
}

StepModel model_of(const Observed& observed, const std::optional<ReadScaling>& scaling) {
  const auto room = room_on_host(observed);
  auto loading = std::make_unique<ReadLoading>(observed);
  const double host_memory =
      room && observed.worker_memory ? *room + loading->host_bytes(observed.settings) : 0;
  StepModel model(std::move(loading), observed.mode, host_memory);
  const auto limits = batch_limits(observed, observed.memory_cap.value_or(0));
  if (limits && observed.memory_cap) {
    model.limit_batches(observed.settings.dtype, *limits, std::llround(*observed.memory_cap));
  }
  if (scaling) {
    model.scale_cards(*observed.proposed->cards, scaling->brings);
  }
  return model;
}

// Whether the readings say how more workers than now would load, and that it matters.
bool tell_of_more_workers(const Observed& observed) {
  return observed.has_workers && observed.data_s && *observed.data_s >= kCounts * *observed.step_s &&
         *observed.data_s < *observed.step_s && !more_bring_nothing(observed);
}

}  // namespace

std::vector<TimedRun> timed_workers(const Observed& observed) {
  std::vector<TimedRun> timed;
  const auto add = [&](std::int64_t workers, const std::optional<double>& step,
                       const std::optional<double>& data) {
    if (step && std::ranges::count(timed, workers, &TimedRun::count) == 0) {
      timed.push_back({workers, *step, data});
    }
  };
  if (observed.has_workers) {
    add(observed.settings.workers, observed.step_s, observed.data_s);
  }
  for (const WorkersTried& tried : observed.workers_tried) {
    add(tried.workers, tried.step_s, tried.data_s);
  }
  if (const auto& earlier = observed.earlier_run;
      earlier && earlier->workers && is_same_work(observed, *earlier) &&
      earlier->cards.value_or(observed.settings.cards) == observed.settings.cards) {
    add(*earlier->workers, earlier->step_s, earlier->data_s);
  }
  std::ranges::sort(timed, {}, &TimedRun::count);
  return timed;
}

std::optional<TimedRun> fastest_workers(const std::vector<TimedRun>& timed) {
  if (timed.empty()) {
    return std::nullopt;
  }
  const double least = std::ranges::min(timed, {}, &TimedRun::step_s).step_s;
  return *std::ranges::find_if(timed, [&](const TimedRun& one) { return kNearBest * one.step_s <= least; });
}

std::optional<TimedRun> faster_workers(const Observed& observed) {
  const auto fastest = fastest_workers(timed_workers(observed));
  const bool faster =
      observed.has_workers && observed.step_s && fastest && fastest->step_s < kRunsAsFast * *observed.step_s;
  return faster ? fastest : std::nullopt;
}

bool trainer_waits(const TimedRun& one, const std::vector<TimedRun>& timed) {
  const auto fastest = fastest_workers(timed);
  // Where the wait was not read: another count was faster.
  return one.data_s ? *one.data_s >= kLimits * one.step_s
                    : fastest && fastest->step_s < kRunsAsFast * one.step_s;
}

std::optional<std::pair<TimedRun, TimedRun>> workers_that_bring_nothing(const Observed& observed) {
  const std::vector<TimedRun> timed = timed_workers(observed);
  const auto own = std::ranges::find(timed, observed.settings.workers, &TimedRun::count);
  const auto fastest = fastest_workers(timed);
  if (!observed.has_workers || own == timed.end() || !fastest || !trainer_waits(*own, timed) ||
      fastest->step_s < kRunsAsFast * own->step_s) {
    return std::nullopt;
  }
  for (const TimedRun& other : timed) {
    const auto& [fewer, more] = std::ranges::minmax(*own, other, {}, &TimedRun::count);
    constexpr double kManyMore = 1.5;
    const bool many_more = static_cast<double>(more.count) >=
                           kManyMore * static_cast<double>(std::max<std::int64_t>(1, fewer.count));
    if (many_more && trainer_waits(other, timed) && more.step_s >= kRunsAsFast * fewer.step_s) {
      return std::pair(fewer, more);
    }
  }
  return std::nullopt;
}

bool more_bring_nothing(const Observed& observed) {
  const std::vector<TimedRun> timed = timed_workers(observed);
  return workers_that_bring_nothing(observed) ||
         (observed.has_workers && !timed.empty() && timed.back().count > observed.settings.workers);
}

std::optional<LoadingLaw> loading_law(const Observed& observed) {
  const std::vector<TimedRun> timed = timed_workers(observed);
  std::vector<double> shares;  // 1 over the workers
  std::vector<double> loads;
  for (const TimedRun& one : timed) {
    if (trainer_waits(one, timed) && (one.count > 0 || one.data_s)) {  // without workers the wait is the load
      shares.push_back(1 / std::max(1.0, static_cast<double>(one.count)));
      loads.push_back(one.count > 0 ? one.step_s : *one.data_s);
    }
  }
  const auto line = fit_line(shares, loads);
  return line && line->slope.value > 0
             ? std::optional(LoadingLaw{std::max(0.0, line->intercept.value), line->slope.value})
             : std::nullopt;
}

std::int64_t loaders_of(const Observed& observed) {
  return observed.settings.cards * std::max<std::int64_t>(1, observed.settings.workers);
}

std::int64_t processes_of(const Observed& observed) {
  return observed.settings.cards * (observed.settings.workers + 1);
}

bool is_crowded(const Observed& observed) {
  return observed.has_workers && observed.host_cores && processes_of(observed) > *observed.host_cores;
}

std::int64_t workers_with_cores(const Observed& observed) {
  return std::max<std::int64_t>(1, *observed.host_cores / observed.settings.cards - 1);
}

void ask_for_host_cpu(const Observed& observed, std::vector<std::string>& missing) {
  missing.push_back(fmt::format(
      "host_cpu_percent and host_system_percent: us + sy, and sy, of vmstat 5 while it trains; cores that "
      "are full keep the card from getting work{}",
      is_crowded(observed)
          ? fmt::format(", and {} processes share {} here", processes_of(observed), *observed.host_cores)
          : ""));
}

bool decoding_is_excluded(const Observed& observed) {
  constexpr double kMostWait = 0.5;
  return observed.has_workers && observed.host_cores && observed.host_cpu &&
         *observed.host_cpu * static_cast<double>(*observed.host_cores) <
             kMostWait * static_cast<double>(loaders_of(observed));
}

bool is_slower_storage(const Observed& observed) {
  const auto& earlier = observed.earlier_run;
  if (!observed.data_s || !earlier || !earlier->step_s || !earlier->data_s || *earlier->data_s <= 0 ||
      !is_same_work(observed, *earlier) ||
      earlier->cards.value_or(observed.settings.cards) != observed.settings.cards ||
      earlier->workers.value_or(observed.settings.workers) != observed.settings.workers) {
    return false;
  }
  constexpr double kManyTimes = 10;  // other programs on the cores slow a loader down by less
  constexpr double kAlike = 1.3;
  const double then = *earlier->step_s - *earlier->data_s;
  const double now = *observed.step_s - *observed.data_s;
  return *observed.data_s >= kManyTimes * *earlier->data_s && now < kAlike * then && then < kAlike * now;
}

std::optional<double> hidden_step_s(const Observed& observed) {
  std::optional<double> least;
  if (observed.step_s && observed.data_s) {
    least = *observed.step_s - *observed.data_s;
  }
  for (const TimedRun& one : timed_workers(observed)) {
    const double compute = one.step_s - one.data_s.value_or(0);
    least = observed.data_s || one.data_s ? std::min(least.value_or(compute), compute) : least;
  }
  return least;
}

std::string wait_in_words(const Observed& observed) {
  return fmt::format("{} of a step of {} ({}) wait for data", seconds_in_words(*observed.data_s),
                     seconds_in_words(*observed.step_s), share_in_words(*observed.data_s / *observed.step_s));
}

ReadLoading::ReadLoading(const Observed& observed)
    : observed_(observed),
      step_ns_(1e9 * accumulation_s(observed).value_or(observed.step_s.value_or(1))),
      scale_(step_ns_ / observed.step_s.value_or(1)),
      timed_(timed_workers(observed)) {
  const TrainingSettings& now = observed.settings;
  const auto faster = faster_workers(observed);
  // A step that was faster under another count waited less by as much at the least.
  const double waiting_ns = scale_ * (observed.data_s ? *observed.data_s
                                      : faster        ? *observed.step_s - faster->step_s
                                                      : 0);
  const auto law = loading_law(observed);
  law_ = law                ? LoadingLaw{scale_ * law->serial, scale_ * law->parallel}
         : now.workers == 0 ? LoadingLaw{0, waiting_ns}
                            : LoadingLaw{0, step_ns_ * static_cast<double>(now.workers)};
  facts_ = {.measured = now, .compute_ns = step_ns_ - waiting_ns, .is_simulated = false};
  const std::int64_t cores = observed.host_cores ? std::max<std::int64_t>(1, *observed.host_cores / now.cards)
                                                 : keep_up(facts_.compute_ns);
  facts_.cores = static_cast<double>(cores);
  facts_.counts = {now.workers};
  if (accumulation_s(observed) && faster) {
    facts_.counts.clear();
    std::ranges::transform(timed_, std::back_inserter(facts_.counts), &TimedRun::count);
  } else if (accumulation_s(observed) && tell_of_more_workers(observed)) {
    std::int64_t most = std::max(now.workers, std::min(kMostWorkers, 2 * cores + 2));
    if (law) {  // counts that were timed tell little far beyond them
      most = std::min(most, std::max(now.workers, 2 * timed_.back().count));
    }
    facts_.counts.resize(static_cast<std::size_t>(most - now.workers) + 1);
    std::iota(facts_.counts.begin(), facts_.counts.end(), now.workers);
  }
}

std::int64_t ReadLoading::keep_up(double compute_ns) const {
  constexpr double kMost = 1e6;
  // Where the serial part is longer: those that come near it.
  const double left = std::max(compute_ns, law_.serial / kNearBest) - law_.serial;
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(law_.parallel / std::max(1.0, left) - 1e-9)));
}

LoadedStep ReadLoading::step(const TrainingSettings& settings, double compute_ns,
                             std::optional<double> /*copy_ns*/) const {
  const auto timed = std::ranges::find(timed_, settings.workers, &TimedRun::count);
  LoadedStep step{.step_ns = step_ns_};
  if (settings.workers != observed_.settings.workers && timed != timed_.end()) {
    step.step_ns = scale_ * timed->step_s;
  } else if (settings.workers != observed_.settings.workers) {
    const double loaders = std::min(static_cast<double>(settings.workers), facts_.cores);
    step.step_ns = settings.workers == 0 ? compute_ns + law_.at(1) : std::max(compute_ns, law_.at(loaders));
    step.at_least = true;
  }
  step.computing_ns = std::min(compute_ns, step.step_ns);
  step.waiting_ns = step.step_ns - step.computing_ns;
  return step;
}

Bottleneck ReadLoading::limit(const TrainingSettings& /*settings*/, double /*compute_ns*/,
                              std::optional<double> /*copy_ns*/) const {
  return is_slower_storage(observed_) ? Bottleneck::storage : Bottleneck::loader;
}

std::string ReadLoading::reason_to_wait(std::vector<std::string>& missing) const {
  const auto faster = faster_workers(observed_);
  if (!observed_.data_s) {
    return fmt::format("A step takes {} with {} worker{}, and {}.", seconds_in_words(*observed_.step_s),
                       observed_.settings.workers, observed_.settings.workers == 1 ? "" : "s",
                       faster_in_words(observed_, *faster));
  }
  const std::string times = wait_in_words(observed_);
  if (is_slower_storage(observed_)) {
    return fmt::format(
        "{}; the same run waited {} earlier and computed as long. Decoding has not changed: "
        "the page cache, or the storage, gave the files faster then.",
        times, seconds_in_words(*observed_.earlier_run->data_s));
  }
  if (faster) {
    return fmt::format("{}; {}.", times, faster_in_words(observed_, *faster));
  }
  const bool decoding_excluded = decoding_is_excluded(observed_);
  missing.push_back(fmt::format(
      "data_ms of a few hundred steps, run twice in a row: the second time the files come from the page "
      "cache, and if the wait is as long, {}the way to the training process takes it",
      decoding_excluded ? "" : "decoding or "));
  if (decoding_excluded) {
    return fmt::format(
        "{}. {:.1f} of the host's {} cores are busy, with {} process{} that load: storage, the way to the "
        "training process or the workers' start limits, not decoding.",
        times, *observed_.host_cpu * static_cast<double>(*observed_.host_cores), *observed_.host_cores,
        loaders_of(observed_), loaders_of(observed_) == 1 ? "" : "es");
  }
  if (const auto none = workers_that_bring_nothing(observed_)) {
    return fmt::format(
        "{}. {} workers load no faster than {} ({} and {} a step): storage or the way to the "
        "training process limits, not their number.",
        times, none->second.count, none->first.count, seconds_in_words(none->second.step_s),
        seconds_in_words(none->first.step_s));
  }
  return fmt::format("{}{}; decoding, storage and transport are not told apart.", times,
                     observed_.settings.workers == 0 && observed_.has_workers
                         ? ", loaded by the training process itself"
                         : "");
}

std::optional<NamedBottleneck> ReadLoading::what_else_limits(std::vector<std::string>& missing) const {
  if (!observed_.data_s) {
    return std::nullopt;
  }
  const std::string short_wait = fmt::format("The wait is short: {}", wait_in_words(observed_));
  if (const auto faster = faster_workers(observed_)) {
    return NamedBottleneck{Bottleneck::undecided,
                           fmt::format("{}; but {}.", short_wait, faster_in_words(observed_, *faster))};
  }
  std::string host;
  if (!observed_.host_cpu) {
    ask_for_host_cpu(observed_, missing);
  } else {
    host = fmt::format(
        " The host's cores are {:.0f} % busy, {}.", 100 * *observed_.host_cpu,
        *observed_.host_cpu < kBusyCores ? "so it is not for want of them" : "which may slow its part");
  }
  missing.emplace_back(
      "a profile of one step (torch.profiler): how much of it the card computes, copies or waits for the "
      "host");
  return NamedBottleneck{
      Bottleneck::undecided,
      fmt::format("{}. What the rest goes to was not read: computing, copies, starting operations, or cores "
                  "that others use.{}",
                  short_wait, host)};
}

double ReadLoading::host_bytes(const TrainingSettings& settings) const {
  return observed_.worker_memory.value_or(0) * static_cast<double>(settings.workers * settings.cards);
}

ReadStep::ReadStep(const Observed& given)
    : observed(given),
      scaling(scaling_of(given)),
      model(model_of(given, scaling)),
      now(step_option(model, given.settings)) {
  std::vector<TrainingSettings> asked;
  if (scaling) {
    asked = {given.settings};
    asked.front().cards = *given.proposed->cards;
  }
  found = find_changes(model, now, asked);
}

const StepOption* ReadStep::paying(std::int64_t TrainingSettings::*count) const {
  const auto other = std::ranges::find_if(
      found.paying, [&](const StepOption& one) { return one.settings.*count != observed.settings.*count; });
  return other == found.paying.end() ? nullptr : &*other;
}

}  // namespace bench
