// The limit of the loader: the reason why it is no faster, and what samples and workers cost.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/text/units.h"
#include "sweeps/workers/findings.h"

namespace bench::sweeps {
namespace {

// Why the loader is no faster with so many workers, from its measured point or the profile alone.
struct LoaderLimit {
  std::string name{};  // "storage", "copy", "decode", "memory", "hand_off", "workers", "order", …
  std::string why{};
  std::string remedy{};  // empty: none is known
};

// A consumer that computes so much longer while workers run is slowed down by them.
constexpr double kSlower = 1.05;

double rate_of(const LoaderPoint& point) {
  return point.samples_per_s.value;
}

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

// A step lasts as long as its copy, which is overlapped with a shorter computing. AU does not show it, for
// copying ready data takes as long.
bool waits_for_copies(const LoaderPoint& point) {
  return point.workers > 0 && point.copy_ns > point.compute_ns && point.copy_ns > kBusy * point.step_ns;
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

// The load of whatever could be the limit, where none of it is.
std::string ruled_out(const Evidence& evidence, const LoaderPoint& point) {
  return fmt::format(
      "workers are busy {} of the time, {:.1f} of {} cores are used, a copy takes {} of a step's {}: none of "
      "them is the limit",
      format_percent(busy_share(point)), cores_used(point), evidence.setup.cores,
      format_duration(point.copy_ns), format_duration(point.step_ns));
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
  LoaderLimit every_worker_is_busy{.name = "workers", .why = fmt::format("every worker is busy ({})", share)};
  if (workers == 0) {
    every_worker_is_busy.why = fmt::format("one thread loads, copies and computes in turn ({})", share);
    return every_worker_is_busy;
  }
  if (by == "workers") {
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
    return {.name = "unknown", .why = point == nullptr ? "" : ruled_out(evidence, *point)};
  }
  return {.name = timed ? largest.key : "cores",
          .why = timed ? fmt::format("all cores are busy, and {}", share) : "all cores are busy",
          .remedy = "more cores, or smaller images"};
}

}  // namespace

std::optional<Finding> claim_plateau(const Evidence& evidence) {
  const auto& pool = evidence.points.pool;
  const bool measured = pool.size() > 1;
  if (!measured && (!evidence.simulated || !pool.empty())) {
    return std::nullopt;
  }
  Finding finding = finding_of("plateau", "images/s");
  std::int64_t workers = 0;
  std::optional<LoaderLimit> limit;
  double au = 0;
  if (measured) {
    const LoaderPoint& best = *std::ranges::max_element(pool, {}, rate_of);
    const auto& ready = evidence.points.ready;
    finding.set(best.samples_per_s);
    finding.evidence = {best.name};
    workers = best.workers;
    au = best.au ? best.au->value : 0;
    if (workers > 0 && au >= kFed && ready && best.compute_ns > kSlower * ready->compute_ns) {
      limit = LoaderLimit{
          .name = "shared_cores",
          .why = fmt::format("the consumer shares the cores with the workers, and computes {} a step "
                             "instead of {}",
                             format_duration(best.compute_ns), format_duration(ready->compute_ns)),
          .remedy = evidence.setup.cores > workers
                        ? fmt::format("compute threads: {}", evidence.setup.cores - workers)
                        : "more cores, or fewer workers"};
    } else if (waits_for_copies(best)) {
      limit = copy_limit();
      limit->why +=
          fmt::format(" ({} and {})", format_duration(best.copy_ns), format_duration(best.compute_ns));
    }
  } else {
    const auto& points = evidence.simulated->points;
    const double most = std::ranges::max(points, {}, &SimulatedPoint::samples_per_s).samples_per_s;
    constexpr double kAsFast = 0.995;  // what is printed as the same
    const SimulatedPoint& best = *std::ranges::find_if(
        points, [&](const SimulatedPoint& point) { return point.samples_per_s >= kAsFast * most; });
    finding.value = most;
    workers = best.workers;
    au = best.limited_by == "copy" ? 0 : best.au;
  }
  if (!limit) {
    limit = au >= kFed ? LoaderLimit{.name = "consumer",
                                     .why = fmt::format("the consumer takes no more (AU {:.2f})", au),
                                     .remedy = ""}
                       : loader_limit(evidence, workers);
  }
  finding.details = {{"workers", workers}, {"limited_by", limit->name}};
  finding.claim = fmt::format("{} {} samples/s with {}: {}{}", measured ? "At most" : "Simulated: at most",
                              plus_minus(*finding.value, finding.ci95), workers_text(workers), limit->why,
                              limit->remedy.empty() ? "" : fmt::format(" [{}]", limit->remedy));
  return finding;
}

std::optional<Finding> claim_scaling(const Evidence& evidence) {
  if (!evidence.profile || evidence.profile->law.workers.size() < 2) {
    return std::nullopt;  // one count does not show how others relate to it
  }
  const Profile& profile = *evidence.profile;
  const simulator::ScalabilityLaw& law = profile.law.law;
  Finding finding = finding_of("scaling", "images/s", names_of(evidence.points.capacity));
  finding.value = law.at(law.cores);
  const double scale = *finding.value / law.one;
  finding.set_interval(Interval{profile.law.one_ci95.low * scale, profile.law.one_ci95.high * scale}, kOfFit);
  finding.details = {{"one", law.one},     {"sigma", law.sigma},
                     {"kappa", law.kappa}, {"crowding", law.oversubscription},
                     {"cores", law.cores}, {"worst_error", profile.law.worst_error}};
  // Up to three numbers (λ, σ, κ) are fitted to the counts within the cores, one to those beyond: as many
  // counts are met exactly, right or wrong.
  const auto within = std::ranges::count_if(
      profile.law.workers, [&](std::int64_t workers) { return static_cast<double>(workers) <= law.cores; });
  const bool has_error = within > 3 || std::ssize(profile.law.workers) - within > 1;
  finding.claim = fmt::format(
      "One worker makes {}{}, workers on all {:g} cores {}: {:.2f} times as much (fitted to {} with {} "
      "workers{})",
      rate_text(law.one), profile.pipeline.storage ? " without waits for storage" : "", law.cores,
      rate_text(*finding.value), scale, profile.law.from, fmt::join(profile.law.workers, ", "),
      has_error ? fmt::format("; off by at most {}", format_percent(profile.law.worst_error)) : "");
  if (profile.law.largest_active + 0.5 < law.cores) {
    finding.claim += fmt::format("; beyond {} workers computing at once it is an extrapolation",
                                 format_number(profile.law.largest_active));
  }
  return finding;
}

std::optional<Finding> claim_stages(const Evidence& evidence) {
  Finding finding = finding_of("stages", "ns");
  loader::StageTimes stages = evidence.profile ? evidence.profile->stages_ns : loader::StageTimes{};
  const auto points = evidence.points.capacity_and_pool();
  if (const auto timed =
          std::ranges::find_if(points, [](const LoaderPoint* point) { return point->stages_ns.total() > 0; });
      timed != points.end()) {
    stages = (*timed)->stages_ns;
    finding.evidence = {(*timed)->name};
  }
  if (!(stages.total() > 0)) {
    return std::nullopt;
  }
  finding.value = stages.total();
  finding.details = {{"largest", largest_stage(stages).key}, {"stages_ns", to_json(stages)}};
  std::vector<StageName> by_time(kStages.begin(), kStages.end());
  std::ranges::stable_sort(by_time, std::greater<>(),
                           [&](const StageName& stage) { return stages.*stage.time; });
  std::vector<std::string> parts;
  for (const StageName& stage : by_time) {
    parts.push_back(fmt::format("{} {}", stage.text, format_percent(stages.*stage.time / stages.total())));
  }
  finding.claim =
      fmt::format("A sample takes a worker {}: {}", format_duration(stages.total()), fmt::join(parts, ", "));
  return finding;
}

std::optional<Finding> claim_slowdown(const Evidence& evidence) {
  const auto& ready = evidence.points.ready;
  if (!ready || !(ready->compute_ns > 0)) {
    return std::nullopt;
  }
  const LoaderPoint* worst = nullptr;
  for (const LoaderPoint& point : evidence.points.pool) {
    if (point.workers > 0 && (worst == nullptr || point.compute_ns > worst->compute_ns)) {
      worst = &point;
    }
  }
  if (worst == nullptr || ready->few_rounds || worst->few_rounds) {
    return std::nullopt;  // a disturbance of one of them would be blamed on the workers, or hide their effect
  }
  const auto slowdown = [&](const LoaderPoint& point) { return point.compute_ns / ready->compute_ns - 1; };
  Finding finding = finding_of("consumer_slowdown", "1", {ready->name, worst->name});
  finding.value = slowdown(*worst);
  finding.details = {{"workers", worst->workers}, {"by_workers", Json::array()}};
  for (const LoaderPoint& point : evidence.points.pool) {
    finding.details["by_workers"].push_back({{"workers", point.workers}, {"slowdown", slowdown(point)}});
  }
  constexpr double kNoticed = 0.02;
  constexpr double kDisturbed = -0.05;
  if (*finding.value < kDisturbed) {
    finding.claim = fmt::format(
        "Inconclusive whether workers slow the consumer down: a step computes {} with ready data and at most "
        "{} with "
        "workers, so other work disturbed it",
        format_duration(ready->compute_ns), format_duration(worst->compute_ns));
  } else if (*finding.value < kNoticed) {
    finding.claim = fmt::format("Workers do not slow the consumer down: computing takes at most {} longer",
                                format_percent(std::max(0.0, *finding.value)));
  } else {
    finding.claim = fmt::format(
        "Workers slow the consumer down: a step computes {} with {}, and {} with ready data{}",
        format_duration(worst->compute_ns), workers_text(worst->workers), format_duration(ready->compute_ns),
        evidence.setup.consumer_on_cores ? "; both use the same cores" : "");
  }
  return finding;
}

}  // namespace bench::sweeps
