#include "bench/run/point_preparer.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/run/warm_up.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// That a verification which is not shortened may take.
constexpr double kStepsToVerify = 20;

// Median time of the steps after the first, which touches the pages, or of the first if there is no other;
// includes the work before each step, such as emptying the caches.
double warm_up(Workload& workload, Device& device, const Clock& clock, bool cold_caches) {
  std::vector<double> steps;
  const WarmUp rule(device);
  double total = 0;
  while (!rule.is_over(std::ssize(steps), total) && !interrupted()) {
    const Clock::time_point start = clock.now();
    if (cold_caches) {
      device.flush_caches();
    }
    workload.before_step();
    const double preparing = clock.since_ns(start);
    steps.push_back(preparing + static_cast<double>(workload.timed_step(device)));
    total += steps.back();
  }
  if (steps.empty()) {
    return 0;
  }
  return median(std::span(steps).subspan(steps.size() > 1 ? 1 : 0));
}

PointMemory memory_of(Device& device, std::int64_t used_before) {
  PointMemory memory;
  memory.by_category = device.memory().at_peak();
  memory.peak_measured = device.memory().peak();
  memory.driver_used = std::max<std::int64_t>(0, device.driver_used() - used_before);
  // Libraries' own allocations, compiled code and allocator slack: seen by the system, not by the tracker.
  memory.by_category[MemoryCategory::other] +=
      std::max<std::int64_t>(0, memory.driver_used - memory.peak_measured);
  return memory;
}

std::optional<PlannedMemory> planned_memory(const MemoryPlan& plan) {
  if (plan.peak_at.empty()) {
    return std::nullopt;
  }
  return PlannedMemory{.peak_at = plan.peak_at,
                       .setup_peak = plan.setup_peak,
                       .step_peak = plan.in_step.total(),
                       .library = plan.library,
                       .feature_maps = plan.feature_maps};
}

}  // namespace

WarmWorkload make_warm(const SweepPoint& point, Device& device, const Clock& clock, MeasureMemory memory) {
  WarmWorkload made;
  const bool measure = memory == MeasureMemory::yes;
  if (measure) {  // later repetitions may find compiled code
    device.drop_caches();
  }
  if (point.cold) {  // the memory that empties the caches is not the workload's
    device.flush_caches();
  }
  // The system's answer takes longer than many a repetition.
  const std::int64_t used_before = measure ? device.driver_used() : 0;
  device.memory().reset_peak();

  const Clock::time_point start = clock.now();
  made.workload = point.workload->make(device);
  made.make_ns = clock.since_ns(start);
  made.cost.step_ns = warm_up(*made.workload, device, clock, point.cold);
  made.cost.setup_ns = clock.since_ns(start);
  if (measure) {
    made.memory = memory_of(device, used_before);
  }
  return made;
}

double PointPreparer::growth(const SweepPoint& point, const Series& series) {
  return series.prepared == 0
             ? 1
             : static_cast<double>(point.spec.batch) / static_cast<double>(series.last_batch);
}

std::array<std::string, 3> PointPreparer::neighbourhoods(const SweepPoint& point) {
  const std::string workload = point.params.value("workload", "");
  return {fmt::format("{}/{}/{}", workload, point.spec.mode, point.spec.batch), workload + "/", ""};
}

std::optional<Refusal> PointPreparer::ended_before(const SweepPoint& point) const {
  const auto series = series_.find(point.series);
  return series == series_.end() || point.spec.batch < series->second.end_batch ? std::nullopt
                                                                                : series->second.end;
}

std::variant<PreparedPoint, Refusal> PointPreparer::prepare(const SweepPoint& point,
                                                            const std::vector<PointCost>& ready,
                                                            const Report& report) {
  Series& series = series_[point.series];
  std::optional<Refusal> refusal;
  try {
    if (const auto reason = point.workload->unsupported(device_)) {
      refusal = Refusal{"unsupported", *reason};
    } else if (budget_.left_ns() <= 0 && !point.is_needed) {
      refusal =
          Refusal{"skipped", fmt::format("{} has no room left; give a larger --time-budget", budget_.name())};
    } else {
      report("planning");
      const MemoryPlan plan = point.workload->plan(device_);
      stop_if_interrupted("it was planned");
      refusal = refuse(point, series, plan, ready);
      if (!refusal) {
        auto outcome = make(point, series, plan, report);
        if (!std::holds_alternative<Refusal>(outcome)) {
          return outcome;
        }
        refusal = std::get<Refusal>(std::move(outcome));
      }
    }
  } catch (const OutOfMemory& error) {
    refusal = Refusal{"oom", error.what()};
  }
  series.end = std::move(refusal);
  series.end_batch = point.spec.batch;
  return *series.end;
}

std::map<std::string, SeriesCost> PointPreparer::costs() const {
  std::map<std::string, SeriesCost> costs;
  for (const auto& [name, series] : series_) {
    if (series.prepared > 0) {
      costs[name] = {.make_ns = series.first_make_ns,
                     .warm_up_ns = series.first_setup_ns - series.first_make_ns,
                     .again_ns = series.last_cost.setup_ns};
    }
  }
  return costs;
}

// By the point before it in its series, else by the nearest point of another series: a dtype, an optimizer, a
// mode, a workload; where all so far failed, by how long that took. The run's very first point alone has no
// neighbour and counts as 0: a run without a figure answers nothing, so if any time is left that point is
// begun whatever it may take.
double PointPreparer::expected_preparation_ns(const SweepPoint& point, const Series& series) const {
  if (series.prepared > 0) {
    return series.preparation_ns * std::max(1.0, growth(point, series) / 2);
  }
  for (const auto* const known : {&preparations_ns_, &failures_ns_}) {
    for (const std::string& neighbourhood : neighbourhoods(point)) {
      if (const auto found = known->find(neighbourhood); found != known->end()) {
        return found->second;
      }
    }
  }
  return 0;
}

// Keeps the last preparation of points alike, and the least of the others: a refusal ends the series that the
// point begins. Reference points do not count for their workload, whose points are smaller.
void PointPreparer::remember_preparation(const SweepPoint& point, double preparation_ns) {
  const auto [alike, workload, any] = neighbourhoods(point);
  const auto keep_least = [&](const std::string& neighbourhood) {
    double& least = preparations_ns_.try_emplace(neighbourhood, preparation_ns).first->second;
    least = std::min(least, preparation_ns);
  };
  keep_least(any);
  if (!point.is_reference) {
    keep_least(workload);
    preparations_ns_[alike] = preparation_ns;
  }
}

// A failed preparation gives a lower bound of the time, used where none succeeded.
void PointPreparer::remember_failure(const SweepPoint& point, double preparation_ns) {
  const auto [alike, workload, any] = neighbourhoods(point);
  const auto keep_longest = [&](const std::string& neighbourhood) {
    double& longest = failures_ns_[neighbourhood];
    longest = std::max(longest, preparation_ns);
  };
  keep_longest(any);
  if (!point.is_reference) {
    keep_longest(workload);
    keep_longest(alike);
  }
}

// Memory by plan, then time: judged by the series' last point, or by what is known of this one without.
std::optional<Refusal> PointPreparer::refuse(const SweepPoint& point, const Series& series,
                                             const MemoryPlan& plan,
                                             const std::vector<PointCost>& ready) const {
  if (plan.peak > settings_.memory_cap) {
    return Refusal{"oom", fmt::format("needs {} (predicted), the memory cap is {}", format_bytes(plan.peak),
                                      format_bytes(settings_.memory_cap))};
  }
  if (point.is_needed) {
    return std::nullopt;
  }
  const double left_ns = budget_.left_ns();
  if (const double preparation_ns = expected_preparation_ns(point, series);
      left_ns > 0 && preparation_ns > left_ns) {
    return Refusal{"skipped",
                   fmt::format("preparation takes about {}, more than is left; give a larger --time-budget",
                               format_duration(preparation_ns))};
  }
  const bool is_first = series.prepared == 0;
  const double grown = growth(point, series);
  const double setup_growth = std::max(1.0, grown / 2);
  const PointCost again = is_first ? point.workload->least_cost()
                                   : PointCost{.setup_ns = series.last_cost.setup_ns * setup_growth,
                                               .step_ns = series.last_cost.step_ns * grown};
  const CandidateCost expected{
      .first_setup_ns = is_first ? again.setup_ns : series.first_setup_ns * setup_growth, .again = again};
  const bool is_known = expected.first_setup_ns > 0 || again.step_ns > 0;
  // Three rounds bound the spread between rounds only loosely: an open series stops growing early enough for
  // more. One point alone answers nothing: the second needs room for a single round.
  const std::int64_t rounds = !plan_.open_ended
                                  ? std::min(settings_.least_rounds, settings_.rounds.when_growing)
                              : series.prepared < 2 ? 1
                                                    : settings_.rounds.when_growing;
  if (is_known ? has_room(ready, expected, left_ns, rounds) : left_ns > 0) {
    return std::nullopt;
  }
  const std::string least =
      is_first && is_known
          ? fmt::format(", which take {} at least",
                        format_duration(expected.first_setup_ns + minimum_cost_ns(again, rounds)))
          : "";
  return Refusal{"skipped", fmt::format("{} has no room for {} round{}{}; give a larger --time-budget",
                                        budget_.name(), rounds, rounds == 1 ? "" : "s", least)};
}

// A library allocates tables and its threads' stacks once in a process and keeps them, 5 MiB with oneDNN: one
// unmeasured step before the first point keeps them out of that point's memory.
void PointPreparer::settle_libraries(const SweepPoint& point) {
  if (settled_.insert(point.series).second) {
    point.workload->make(device_)->timed_step(device_);
  }
}

std::variant<PreparedPoint, Refusal> PointPreparer::make(const SweepPoint& point, Series& series,
                                                         const MemoryPlan& plan, const Report& report) {
  const Clock::time_point start = clock_.now();
  try {
    auto prepared = made(point, series, plan, report);
    series.preparation_ns = clock_.since_ns(start);
    remember_preparation(point, series.preparation_ns);
    return prepared;
  } catch (...) {  // the next may take as long
    remember_failure(point, clock_.since_ns(start));
    throw;
  }
}

std::variant<PreparedPoint, Refusal> PointPreparer::made(const SweepPoint& point, Series& series,
                                                         const MemoryPlan& plan, const Report& report) {
  report("preparing");
  // A run without a figure answers nothing.
  const bool is_needed = point.is_needed || preparations_ns_.empty();
  if (plan.library > 0) {
    settle_libraries(point);
  }
  PreparedPoint prepared{.made = make_warm(point, device_, clock_, MeasureMemory::yes), .entry = {}};
  Workload& workload = *prepared.made.workload;
  if (budget_.left_ns() <= 0 && !is_needed) {  // verifying takes several steps, and timing would not follow
    return Refusal{"skipped",
                   fmt::format("{} ended while it was prepared, before timing; give a larger --time-budget",
                               budget_.name())};
  }
  report("verifying");
  if (point.is_needed && budget_.left_ns() < kStepsToVerify * prepared.made.cost.step_ns) {
    workload.shorten_verification();
  }
  // After the memory was measured: the reference implementation allocates too.
  const Clock::time_point start = clock_.now();
  const Verification verification = workload.verify();
  observer_.verified(point.name, clock_.since_ns(start));
  if (verification.failed()) {
    throw std::runtime_error(fmt::format("wrong answer: error {:.3g}, accepted {:.3g}; {}",
                                         verification.error, verification.tolerance, verification.detail));
  }
  Point& entry = prepared.entry;
  entry.name = point.name;
  entry.params = point.params;
  entry.work = workload.work();
  entry.items_per_step = entry.work.samples;
  entry.plan = planned_memory(plan);
  entry.memory = prepared.made.memory;
  entry.memory.peak_predicted = plan.peak;
  entry.memory.by_rank = workload.memory_of_ranks();
  entry.verification = verification;
  series.first_make_ns = prepared.made.make_ns;
  series.first_setup_ns = prepared.made.cost.setup_ns;
  if (device_.first_step_tunes()) {  // what was tuned is kept: see what making it again costs
    prepared.made.workload.reset();
    WarmWorkload again = make_warm(point, device_, clock_, MeasureMemory::no);
    prepared.made.workload = std::move(again.workload);
    prepared.made.cost = again.cost;
  }
  entry.algorithms = prepared.made.workload->algorithms();
  entry.timeline = prepared.made.workload->gradient_timeline();
  ++series.prepared;
  series.last_batch = point.spec.batch;
  series.last_cost = prepared.made.cost;
  return prepared;
}

}  // namespace bench
