#include "sweeps/workers/answer.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include <fmt/format.h>

#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

using Basis = Recommendation::Basis;

double rate_of(const LoaderPoint& point) {
  return point.samples_per_s.value;
}

std::optional<Harm> harm_of(const std::vector<LoaderPoint>& pool) {
  std::vector<ThroughputPoint> rates;
  for (const LoaderPoint& point : pool) {
    rates.push_back(
        {.batch = point.workers, .per_s = point.samples_per_s.value, .ci95 = point.samples_per_s.ci95});
  }
  const auto from = find_harm(rates);
  return from ? std::optional(Harm{.from = *from, .best = &*std::ranges::max_element(pool, {}, rate_of)})
              : std::nullopt;
}

// Only a knee that is one count.
std::optional<Knee> knee_of_simulated(const Evidence& evidence, bool measured_counts_only) {
  if (!evidence.simulated) {
    return std::nullopt;
  }
  std::vector<SimulatedPoint> chosen = evidence.simulated->points;
  std::erase_if(chosen, [&](const SimulatedPoint& point) {
    return measured_counts_only && evidence.points.at(point.workers) == nullptr;
  });
  const auto knee = find_knee(chosen);
  return knee && knee->batch ? knee : std::nullopt;
}

std::optional<Pinning> pinning_of(const LoaderPoints& points) {
  constexpr double kWorthIt = 1.01;
  if (!points.ready || !points.other_staging) {
    return std::nullopt;
  }
  Pinning pinning{.pinned = &*points.ready, .pageable = &*points.other_staging};
  if (points.ready->staging != "pinned") {
    std::swap(pinning.pinned, pinning.pageable);
  }
  pinning.speedup = ratio(pinning.pinned->samples_per_s, pinning.pageable->samples_per_s);
  pinning.pays = pinning.speedup.ci95 && pinning.speedup.low() > 1 && pinning.speedup.value > kWorthIt;
  return pinning;
}

// ---------- recommendation

// The smallest prefetch with 99 % of the best AU. The simulation knows only the slow moments that were
// measured: not less than two, unless less was asked for.
std::int64_t enough_prefetch(const Simulated& simulated) {
  const auto& tried = simulated.prefetches;
  const double best = tried.empty() ? 0 : std::ranges::max(tried, {}, &SimulatedPrefetch::au).au;
  const auto enough = std::ranges::find_if(tried, [&](const SimulatedPrefetch& one) {
    return one.au >= 0.99 * best && one.prefetch >= std::min<std::int64_t>(2, simulated.prefetch);
  });
  return enough == tried.end() ? simulated.prefetch : enough->prefetch;
}

// The one count whose AU was measured, where the simulation promises no more with another count.
const LoaderPoint* single_and_better(const std::vector<LoaderPoint>& pool, const SimulatedPoint* simulated) {
  const auto with_au = [](const LoaderPoint& point) { return point.au.has_value(); };
  const auto single = std::ranges::find_if(pool, with_au);
  return simulated != nullptr && std::ranges::count_if(pool, with_au) == 1 &&
                 single->workers != simulated->workers && single->au->value >= simulated->au
             ? &*single
             : nullptr;
}

// By the measured knee where the intervals single out a count. Within noise the simulation chooses among the
// counts that the intervals allow; without it, or where it allows none of them, the largest of them is safe,
// and a measured knee that is certain to feed the consumer comes before the simulation's larger count.
std::optional<Recommendation> choose_workers(const Evidence& evidence, const WorkersAnswer& answer) {
  const auto& pool = evidence.points.pool;
  const auto& harm = answer.harm;
  // AU alone does not show that computing takes longer: counts that harm are left out.
  const auto measured = harm ? measured_knee(pool, harm->from) : answer.knee;
  const SimulatedPoint* const simulated =
      answer.simulated_knee ? evidence.simulated_at(*answer.simulated_knee->batch) : nullptr;
  // The simulation's count is among those that the intervals allow, and they allow several. One that was not
  // measured has to be as good as the measured ones.
  const bool agrees = measured && simulated != nullptr && measured->low < measured->high &&
                      simulated->workers >= measured->low && simulated->workers <= measured->high &&
                      (evidence.points.at(simulated->workers) != nullptr ||
                       simulated->au >= kSaturatedShare * measured->best_per_s);
  Recommendation choice;
  if (measured) {
    choice.knee = measured;
    choice.range = measured->range();
  }
  if (measured && measured->batch && !(agrees && simulated->workers < *measured->batch)) {
    choice.workers = *measured->batch;
  } else if (measured) {
    choice.basis = agrees ? Basis::chosen : Basis::noise;
    choice.workers = agrees ? simulated->workers : measured->high;
  } else if (harm) {
    choice.basis = Basis::harm;
    choice.workers = harm->best->workers;
  } else if (const LoaderPoint* const better = single_and_better(pool, simulated)) {
    choice.basis = Basis::single;
    choice.workers = better->workers;
  } else if (simulated != nullptr) {
    choice.basis = Basis::simulated;
    choice.workers = simulated->workers;
    choice.range = evidence.of_own_loader() ? knee_range(evidence.simulated->points) : std::nullopt;
  } else {
    return std::nullopt;
  }
  choice.more_harm = harm && choice.workers == harm->best->workers;
  if (const LoaderPoint* const point = evidence.points.at(choice.workers); point != nullptr && point->au) {
    choice.au = *point->au;
  } else if (const SimulatedPoint* const other = evidence.simulated_at(choice.workers)) {
    choice.au = other->printed_au();
  } else {
    return std::nullopt;  // neither ready data nor a simulation
  }
  return choice;
}

constexpr double kSlower = 1.05;  // computing next to workers that slow it down

bool slows_computing(const LoaderPoints& points, const LoaderPoint& point) {
  return point.workers > 0 && points.ready && point.compute_ns > kSlower * points.ready->compute_ns;
}

// AU does not show that computing takes longer. One thread that loads and computes in turn shares its cores
// with nobody.
std::optional<StepWithoutWorkers> step_without(const Evidence& evidence, const Recommendation& choice) {
  const LoaderPoint* const with = evidence.points.at(choice.workers);
  if (with == nullptr || !slows_computing(evidence.points, *with)) {
    return std::nullopt;
  }
  const LoaderPoint* const none = evidence.points.at(0);
  const loader::StageTimes& stages = with->stages_ns;
  const auto samples = static_cast<double>(with->batch);
  const double load_ns = samples * (stages.total() - stages.hand_off);
  if (none == nullptr && !(load_ns > 0)) {
    return std::nullopt;
  }
  const double step_ns = none != nullptr ? none->step_ns : evidence.points.ready->compute_ns + load_ns;
  const double at_most_per_s = none != nullptr ? none->samples_per_s.high() : 1e9 * samples / step_ns;
  return at_most_per_s >= with->samples_per_s.low()
             ? std::optional(
                   StepWithoutWorkers{.step_ns = step_ns, .is_measured = none != nullptr, .with = with})
             : std::nullopt;
}

// Nobody is advised workers that may slow a step down.
void compare_without_workers(const Evidence& evidence, Recommendation& choice) {
  choice.without = step_without(evidence, choice);
  if (!choice.without) {
    return;
  }
  const Interval range{0, choice.range ? choice.range->high : static_cast<double>(choice.workers)};
  choice.range = range;
  choice.basis = Basis::cores;
  if (choice.without->is_measured) {
    const LoaderPoint& none = *evidence.points.at(0);
    choice.workers = 0;
    choice.au = none.au.value_or(choice.au);
  }
}

void add_costs(const Evidence& evidence, const std::optional<Pinning>& pinning, Recommendation& choice) {
  const auto& profile = evidence.profile;
  const LoaderSetup& setup = evidence.setup;
  choice.slot_bytes = profile ? profile->slot_bytes : static_cast<double>(setup.slot_bytes);
  choice.host_bytes = choice.slot_bytes;
  if (pinning) {
    choice.pin = pinning->pays;
  } else if ((profile ? profile->consumer_device : setup.consumer_device) != "none") {
    choice.pin = !(profile ? profile->consumer_on_cores : setup.consumer_on_cores);
  }
  if (choice.workers == 0) {
    return;
  }
  choice.prefetch =
      evidence.simulated ? enough_prefetch(*evidence.simulated) : evidence.points.pool.back().prefetch;
  const int gpus = evidence.simulated ? evidence.simulated->gpus : 1;
  const double all = static_cast<double>(choice.workers) * gpus;
  const double slots = all * static_cast<double>(choice.prefetch) * choice.slot_bytes;
  const LoaderPoint* const measured = evidence.points.at(choice.workers);
  choice.host_bytes = profile || measured == nullptr || measured->windows->host_bytes == 0
                          ? slots + all * (profile ? profile->scratch_bytes_per_worker : 0)
                          : static_cast<double>(measured->windows->host_bytes);
  choice.pinned_bytes = (profile ? profile->pinned : setup.pinned) ? slots : 0;
}

// ---------- feeding

std::optional<Starvation> starvation_of(const LoaderPoints& points) {
  if (points.pool.empty() || !points.pool.front().au || !points.ready) {
    return std::nullopt;
  }
  // Computing may itself take longer where consumer and workers share the cores.
  const LoaderPoint& fewest = points.pool.front();
  const double ready_ns = fewest.workers == 0 ? 0 : points.ready->step_ns - points.ready->compute_ns;
  return Starvation{.fewest = &fewest,
                    .lost_ns = std::max(0.0, fewest.step_ns - fewest.compute_ns - ready_ns)};
}

std::optional<SimulationError> simulation_error_of(const Evidence& evidence) {
  SimulationError error;
  double sum = 0;
  for (const LoaderPoint& point : evidence.points.pool) {
    const SimulatedPoint* const simulated = evidence.simulated_at(point.workers);
    if (simulated == nullptr || !simulated->held_out_au || !point.au) {
      continue;
    }
    const SimulationError::Row row{&point, simulated, 100 * (*simulated->held_out_au - point.au->value)};
    error.rows.push_back(row);
    sum += std::abs(row.points);
    if (std::abs(row.points) >= std::abs(error.worst.points)) {
      error.worst = row;
    }
  }
  error.mean = sum / static_cast<double>(error.rows.size());
  return error.rows.empty() ? std::nullopt : std::optional(error);
}

std::optional<Slowdown> slowdown_of(const LoaderPoints& points) {
  Slowdown slowdown;
  for (const LoaderPoint& point : points.pool) {
    if (point.workers > 0 && (slowdown.worst == nullptr || point.compute_ns > slowdown.worst->compute_ns)) {
      slowdown.worst = &point;
    }
  }
  // A disturbance of one of them would be blamed on the workers, or hide their effect.
  if (slowdown.worst == nullptr || slowdown.worst->few_rounds || !points.ready || points.ready->few_rounds ||
      !(points.ready->compute_ns > 0)) {
    return std::nullopt;
  }
  slowdown.ready = &*points.ready;
  return slowdown;
}

// ---------- the loader's limit

// Growth of an image's processor time from the fewest workers to as many as cores.
std::optional<double> cpu_growth(const std::vector<LoaderPoint>& capacity, double cores) {
  const auto full = std::ranges::min_element(capacity, {}, [&](const LoaderPoint& point) {
    return std::abs(static_cast<double>(point.workers) - cores);
  });
  if (full == capacity.end() || capacity.front().workers >= full->workers || !(capacity.front().cpu_ns > 0)) {
    return std::nullopt;
  }
  return full->cpu_ns / capacity.front().cpu_ns;
}

// The workers share memory where all cores make much less than in proportion, and an image costs more
// processor time.
std::optional<LoaderLimit> memory_limit(const Evidence& evidence) {
  constexpr double kLostProportion = 0.75;
  constexpr double kMoreCpu = 1.15;
  if (!evidence.profile) {
    return std::nullopt;
  }
  const simulator::ScalabilityLaw& law = evidence.profile->law.law;
  const auto growth = cpu_growth(evidence.points.capacity, law.cores);
  if (law.cores <= 1 || law.at(law.cores) >= kLostProportion * law.one * law.cores || !growth ||
      *growth <= kMoreCpu) {
    return std::nullopt;
  }
  return LoaderLimit{
      .name = "memory",
      .why = fmt::format("all cores make {:.1f} times one core's samples, and a sample costs {} "
                         "more processor time (memory bandwidth, caches)",
                         law.at(law.cores) / law.one, format_percent(*growth - 1)),
      .remedy = "smaller images"};
}

// As many images as the loader made alone: the consumer takes nothing from it.
bool makes_all_it_can(const Evidence& evidence, const LoaderPoint& point) {
  double alone = 0;
  for (const LoaderPoint& capacity : evidence.points.capacity) {
    alone = std::max(alone, rate_of(capacity));
  }
  return alone > 0 && rate_of(point) > kNearly * alone;
}

LoaderLimit copy_limit() {
  return {.name = "copy",
          .why = "copying a batch to the device takes longer than computing on it",
          .remedy = "pinned memory, --element uint8"};
}

double cores_used(const LoaderPoint& point) {
  return rate_of(point) * point.cpu_ns / 1e9;
}

// A worker's part of the time in which it makes batches.
double busy_share(const LoaderPoint& point) {
  return active_workers(point, false) / static_cast<double>(std::max<std::int64_t>(1, point.workers));
}

LoaderLimit loader_limit(const Evidence& evidence, std::int64_t workers) {
  const SimulatedPoint* const simulated = evidence.simulated_at(workers);
  const LoaderPoint* const point = evidence.points.at(workers);
  const std::string by = simulated == nullptr ? "" : simulated->limited_by;
  loader::StageTimes stages = evidence.profile ? evidence.profile->stages_ns : loader::StageTimes{};
  if (point != nullptr && point->stages_ns.total() > 0) {
    stages = point->stages_ns;
  }
  const bool timed = stages.total() > 0;
  const StageName& largest = largest_stage(stages);
  const std::string share = timed ? fmt::format("{} takes {} of loading", largest.text,
                                                format_percent(stages.*largest.time / stages.total()))
                                  : "stages not known";
  const bool reads = timed && largest.time == &loader::StageTimes::read && evidence.profile &&
                     evidence.profile->pipeline.storage;
  if (by == "storage" || reads) {
    return {.name = "storage",
            .why = reads ? fmt::format("{} for storage ({})", workers == 0 ? "loading waits" : "workers wait",
                                       share)
                         : "storage gives no more",
            .remedy = "faster storage, or the data in memory"};
  }
  if (by == "copy") {
    return copy_limit();
  }
  LoaderLimit every_worker_is_busy{
      .name = "workers",
      .why = fmt::format(
          "{} ({})", workers == 0 ? "one thread loads, copies and computes in turn" : "every worker is busy",
          share)};
  if (workers == 0 || by == "workers") {
    return every_worker_is_busy;
  }
  if (by == kSharedByWorkers) {
    return {.name = kSharedByWorkers,
            .why =
                "workers wait for what they share, the storage or the way to the training process, and not "
                "for cores",
            .remedy = "larger reads, or less handed over (uint8 in place of float, shared memory)"};
  }
  if (by == "taking") {
    return {
        .name = "taking",
        .why = fmt::format("workers keep up, but taking a batch that is ready takes {} of each step",
                           evidence.profile ? format_duration(evidence.profile->pipeline.gap_ns) : "a part"),
        .remedy = "fewer and larger tensors in a batch"};
  }
  if (timed && largest.time == &loader::StageTimes::hand_off) {
    return {.name = "hand_off",
            .why = fmt::format("workers hand batches over ({})", share),
            .remedy = "fewer workers"};
  }
  const bool all_used = point != nullptr && cores_used(*point) > kBusy * evidence.setup.cores;
  const bool cores_busy =
      by == "cores" || all_used || (point != nullptr && makes_all_it_can(evidence, *point));
  if (const auto memory = memory_limit(evidence); memory && cores_busy) {
    return *memory;
  }
  if (by == "order") {
    return {
        .name = "order",
        .why = "a slow batch holds back all behind it",
        .remedy = evidence.of_own_loader() ? "batches in any order, or a larger prefetch" : "--order any"};
  }
  if (by == "prefetch") {
    return {.name = "prefetch",
            .why = "too few batches are made ahead for how much their times vary",
            .remedy = "prefetch_factor=8"};
  }
  if (!cores_busy && point != nullptr && busy_share(*point) > kBusy) {
    return every_worker_is_busy;
  }
  if (!cores_busy) {
    return {
        .name = "unknown",
        .why = point == nullptr
                   ? ""
                   : fmt::format("workers are busy {} of the time, {:.1f} of {} cores are used, a copy "
                                 "takes {} of a step's {}: none of them is the limit",
                                 format_percent(busy_share(*point)), cores_used(*point), evidence.setup.cores,
                                 format_duration(point->copy_ns), format_duration(point->step_ns))};
  }
  return {.name = timed ? largest.key : "cores",
          .why = timed ? fmt::format("all cores are busy, and {}", share) : "all cores are busy",
          .remedy = "more cores, or smaller images"};
}

// With an AU of `au`; 0 where it does not tell, or is not known.
LoaderLimit plateau_limit(const Evidence& evidence, std::int64_t workers, double au) {
  return au >= kFed ? LoaderLimit{.name = "consumer",
                                  .why = fmt::format("AU {:.2f}", std::min(au, 1.0)),
                                  .remedy = ""}
                    : loader_limit(evidence, workers);
}

Plateau measured_plateau(const Evidence& evidence) {
  const LoaderPoint& best = *std::ranges::max_element(evidence.points.pool, {}, rate_of);
  const auto& ready = evidence.points.ready;
  const double au = best.au ? best.au->value : 0;
  Plateau plateau{.samples_per_s = best.samples_per_s, .workers = best.workers, .measured = &best};
  if (au >= kFed && slows_computing(evidence.points, best)) {
    plateau.limit = {
        .name = "shared_cores",
        .why = fmt::format(
            "the consumer shares the cores with the workers, and computes {} a step instead of {}",
            format_duration(best.compute_ns), format_duration(ready->compute_ns)),
        .remedy = evidence.setup.cores > best.workers
                      ? fmt::format("compute threads: {}", evidence.setup.cores - best.workers)
                      : "more cores"};
  } else if (best.workers > 0 && best.copy_ns > best.compute_ns && best.copy_ns > kBusy * best.step_ns) {
    // A step lasts as long as its copy, which is overlapped with a shorter computing. AU does not show it,
    // for copying ready data takes as long.
    plateau.limit = copy_limit();
    plateau.limit.why +=
        fmt::format(" ({} and {})", format_duration(best.copy_ns), format_duration(best.compute_ns));
  } else {
    plateau.limit = plateau_limit(evidence, best.workers, au);
  }
  return plateau;
}

// With the fewest workers that are as fast as will be printed.
Plateau simulated_plateau(const Evidence& evidence) {
  constexpr double kAsFast = 0.995;
  const auto& points = evidence.simulated->points;
  const double most = std::ranges::max(points, {}, &SimulatedPoint::samples_per_s).samples_per_s;
  const SimulatedPoint& best = *std::ranges::find_if(
      points, [&](const SimulatedPoint& point) { return point.samples_per_s >= kAsFast * most; });
  return {.samples_per_s = {.value = most},
          .workers = best.workers,
          .limit = plateau_limit(evidence, best.workers, best.limited_by == "copy" ? 0 : best.au)};
}

// ---------- consumers elsewhere

// Of the loader with workers for all cores: what it did not use, and others did.
double lost_cores(const Evidence& evidence) {
  const auto& points = evidence.points.capacity.empty() ? evidence.points.pool : evidence.points.capacity;
  const double cores = evidence.setup.cores;
  std::vector<double> lost;
  for (const LoaderPoint& point : points) {
    if (static_cast<double>(point.workers) >= cores) {
      lost.push_back(std::clamp(cores - cores_used(point), 0.0, point.other_cores));
    }
  }
  return lost.empty() ? 0 : mean(lost);
}

// A consumer whose measurement is certain to show that it is fed.
bool is_fed(const Evidence& evidence, const std::optional<Recommendation>& measured,
            const RequiredThroughput& required) {
  return measured && measured->basis != Basis::simulated && measured->au.ci95 && measured->au.low() >= kFed &&
         evidence.setup.consumer == required_text(required);
}

DemandAnswer demand_answer(const Evidence& evidence, const SimulatedRequirement& simulated,
                           const std::optional<Recommendation>& measured) {
  using Verdict = DemandAnswer::Verdict;
  DemandAnswer answer{.required = simulated.required,
                      .gpus = simulated.gpus,
                      .workers = simulated.workers.value_or(0),
                      .au = {.value = simulated.au},
                      .at_most = Estimate{.value = simulated.max_samples_per_s},
                      .limited_by = simulated.limited_by,
                      .prefetch = evidence.simulated->prefetch};
  Estimate& at_most = *answer.at_most;
  if (evidence.profile && simulated.limited_by != "storage" && simulated.limited_by != "copy") {
    at_most = with_law_interval(simulated.max_samples_per_s, *evidence.profile);
    for (const LoaderPoint* const point : evidence.points.capacity_and_pool()) {
      at_most.ci95->high = std::max(at_most.ci95->high, rate_of(*point));
    }
    answer.lost_cores = lost_cores(evidence);
  }
  constexpr double kLeast = 0.1;  // of the cores
  const double had = std::max(kLeast, 1 - answer.lost_cores / evidence.setup.cores);
  answer.on_idle_per_s = at_most.value / had;
  const double needed = kFed * simulated.required.samples_per_s * simulated.gpus;
  if (simulated.gpus == 1 && is_fed(evidence, measured, simulated.required)) {
    answer.verdict = Verdict::fed;
    answer.is_measured = true;
    answer.workers = measured->workers;
    answer.au = measured->au;
  } else if (simulated.workers && at_most.low() >= needed) {
    answer.verdict = Verdict::fed;
  } else if (!simulated.workers && at_most.high() / had < needed) {
    answer.verdict = Verdict::not_fed;
  }
  return answer;
}

std::vector<DemandAnswer> demand_answers(const Evidence& evidence,
                                         const std::optional<Recommendation>& measured) {
  std::vector<DemandAnswer> answers;
  if (evidence.simulated) {
    for (const SimulatedRequirement& simulated : evidence.simulated->requirements) {
      answers.push_back(demand_answer(evidence, simulated, measured));
    }
    return answers;
  }
  for (const RequiredThroughput& required : evidence.setup.required) {
    answers.push_back({.required = required, .gpus = evidence.setup.gpus});
  }
  return answers;
}

}  // namespace

std::optional<Knee> measured_knee(std::span<const LoaderPoint> pool, std::int64_t end) {
  std::vector<ThroughputPoint> au;
  for (const LoaderPoint& point : pool) {
    if (point.au && point.workers < end) {
      au.push_back({.batch = point.workers, .per_s = point.au->value, .ci95 = point.au->ci95});
    }
  }
  return find_saturation(au);
}

std::optional<std::int64_t> find_harm(std::span<const ThroughputPoint> samples_per_s) {
  constexpr double kHarm = 0.98;
  std::optional<std::int64_t> harm;
  const auto best = std::ranges::max_element(samples_per_s, {}, &ThroughputPoint::per_s);
  for (const ThroughputPoint& point : std::views::reverse(samples_per_s)) {
    if (point.batch <= best->batch || point.high() >= best->low() || point.per_s >= kHarm * best->per_s) {
      break;
    }
    harm = point.batch;
  }
  return harm;
}

WorkersAnswer answer_of(const Evidence& evidence) {
  const LoaderPoints& points = evidence.points;
  WorkersAnswer answer{.starvation = starvation_of(points),
                       .knee = measured_knee(points.pool),
                       .simulated_knee = knee_of_simulated(evidence, false),
                       .harm = harm_of(points.pool),
                       .simulation_error = simulation_error_of(evidence),
                       .pinning = pinning_of(points),
                       .slowdown = slowdown_of(points)};
  if (const auto knee = knee_of_simulated(evidence, true)) {
    answer.knee_of_simulated = knee->batch;
  }
  answer.recommendation = choose_workers(evidence, answer);
  if (answer.recommendation) {
    compare_without_workers(evidence, *answer.recommendation);
    add_costs(evidence, answer.pinning, *answer.recommendation);
  }
  answer.demands = demand_answers(evidence, answer.recommendation);
  if (points.pool.size() > 1) {
    answer.plateau = measured_plateau(evidence);
  } else if (evidence.simulated && points.pool.empty()) {
    answer.plateau = simulated_plateau(evidence);
  }
  return answer;
}

}  // namespace bench::sweeps
