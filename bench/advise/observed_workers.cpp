#include "bench/advise/observed_workers.h"

#include <algorithm>

#include "bench/advise/observed_parts.h"
#include "bench/advise/step_option.h"
#include "bench/stats/fit.h"

namespace bench {

std::vector<TimedWorkers> timed_workers(const Observed& observed) {
  std::vector<TimedWorkers> timed;
  const auto add = [&](std::int64_t workers, const std::optional<double>& step,
                       const std::optional<double>& data) {
    if (step && std::ranges::count(timed, workers, &TimedWorkers::workers) == 0) {
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
  std::ranges::sort(timed, {}, &TimedWorkers::workers);
  return timed;
}

std::optional<TimedWorkers> fastest_workers(const std::vector<TimedWorkers>& timed) {
  if (timed.empty()) {
    return std::nullopt;
  }
  const double least = std::ranges::min(timed, {}, &TimedWorkers::step_s).step_s;
  return *std::ranges::find_if(timed,
                               [&](const TimedWorkers& one) { return kNearBest * one.step_s <= least; });
}

std::optional<TimedWorkers> faster_workers(const Observed& observed) {
  const auto fastest = fastest_workers(timed_workers(observed));
  const bool faster =
      observed.has_workers && observed.step_s && fastest && fastest->step_s < kRunsAsFast * *observed.step_s;
  return faster ? fastest : std::nullopt;
}

bool trainer_waits(const TimedWorkers& one, const std::vector<TimedWorkers>& timed) {
  // Where the wait was not read: another count was faster.
  return one.data_s ? *one.data_s >= kLimits * one.step_s
                    : fastest_workers(timed)->step_s < kRunsAsFast * one.step_s;
}

std::optional<std::pair<TimedWorkers, TimedWorkers>> workers_that_bring_nothing(const Observed& observed) {
  const std::vector<TimedWorkers> timed = timed_workers(observed);
  const auto own = std::ranges::find(timed, observed.settings.workers, &TimedWorkers::workers);
  if (!observed.has_workers || own == timed.end() || !trainer_waits(*own, timed) ||
      fastest_workers(timed)->step_s < kRunsAsFast * own->step_s) {
    return std::nullopt;
  }
  for (const TimedWorkers& other : timed) {
    const auto& [fewer, more] = std::minmax(
        *own, other, [](const TimedWorkers& a, const TimedWorkers& b) { return a.workers < b.workers; });
    constexpr double kManyMore = 1.5;
    const bool many_more = static_cast<double>(more.workers) >=
                           kManyMore * static_cast<double>(std::max<std::int64_t>(1, fewer.workers));
    if (many_more && trainer_waits(other, timed) && more.step_s >= kRunsAsFast * fewer.step_s) {
      return std::pair(fewer, more);
    }
  }
  return std::nullopt;
}

std::optional<LoadingLaw> loading_law(const Observed& observed) {
  const std::vector<TimedWorkers> timed = timed_workers(observed);
  std::vector<double> shares;  // 1 over the workers
  std::vector<double> loads;
  for (const TimedWorkers& one : timed) {
    if (trainer_waits(one, timed) &&
        (one.workers > 0 || one.data_s)) {  // without workers the wait is the load
      shares.push_back(1 / std::max(1.0, static_cast<double>(one.workers)));
      loads.push_back(one.workers > 0 ? one.step_s : *one.data_s);
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

bool decoding_is_excluded(const Observed& observed) {
  constexpr double kMostWait = 0.5;
  return observed.has_workers && observed.host_cores && observed.host_cpu &&
         *observed.host_cpu * static_cast<double>(*observed.host_cores) <
             kMostWait * static_cast<double>(loaders_of(observed));
}

bool is_slower_storage(const Observed& observed) {
  const auto& earlier = observed.earlier_run;
  if (!earlier || !earlier->step_s || !earlier->data_s || *earlier->data_s <= 0 ||
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
  for (const TimedWorkers& one : timed_workers(observed)) {
    const double compute = one.step_s - one.data_s.value_or(0);
    least = observed.data_s || one.data_s ? std::min(least.value_or(compute), compute) : least;
  }
  return least;
}

}  // namespace bench
