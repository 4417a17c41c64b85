// What limits the loader, and the plateau that it leads to.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

// A loader that has lost this much of the proportion, while its images cost more processor time, shares more
// than cores.
constexpr double kLostProportion = 0.75;
constexpr double kMoreCpu = 1.15;

const LoaderPoint* nearest(const std::vector<LoaderPoint>& points, double workers) {
  const auto found = std::ranges::min_element(points, {}, [&](const LoaderPoint& point) {
    return std::abs(static_cast<double>(point.workers) - workers);
  });
  return found == points.end() ? nullptr : &*found;
}

// Of images that cost more processor time the more workers there are.
std::optional<double> cpu_growth(const LoaderEvidence& evidence, double cores) {
  const auto& points = evidence.points.capacity;
  const LoaderPoint* const full = nearest(points, cores);
  if (full == nullptr || points.front().workers >= full->workers || !(points.front().cpu_ns > 0)) {
    return std::nullopt;
  }
  return full->cpu_ns / points.front().cpu_ns;
}

// As many images as the loader made alone: the consumer takes nothing from it.
bool makes_all_it_can(const LoaderEvidence& evidence, const LoaderPoint& point) {
  constexpr double kNearly = 0.95;
  double alone = 0;
  for (const LoaderPoint& capacity : evidence.points.capacity) {
    alone = std::max(alone, capacity.images_per_s.value);
  }
  return alone > 0 && point.images_per_s.value > kNearly * alone;
}

// A step that lasts as long as its copy, which goes on beside a shorter computing. AU does not show it, for
// copying ready data takes as long.
bool waits_for_copies(const LoaderPoint& point) {
  constexpr double kNearly = 0.9;
  return point.workers > 0 && point.copy_ns > point.compute_ns && point.copy_ns > kNearly * point.step_ns;
}

constexpr const char* kCopyIsLonger = "copying a batch to the device takes longer than computing on it";

}  // namespace

LoaderLimit loader_limit(const LoaderEvidence& evidence, std::int64_t workers) {
  const SimulatedPoint* const simulated = evidence.simulated_at(workers);
  const LoaderPoint* const point = evidence.points.at(workers);
  const auto& stages = point != nullptr && !point->stages_ns.empty() ? point->stages_ns
                       : evidence.profile                            ? evidence.profile->stages_ns
                                                                     : std::map<std::string, double>();
  const auto [stage, time] = largest(stages);
  const std::string share = stages.empty() ? ""
                                           : fmt::format("{} takes {} of it", stage_text(stage),
                                                         format_percent(time / total(stages)));
  const std::string by = simulated == nullptr ? "" : simulated->limited_by;
  if (by == "storage") {
    return {"storage", "storage gives no more"};
  }
  if (stage == "read" && evidence.profile && evidence.profile->storage) {
    return {"storage", fmt::format("most of a worker's time is waiting for storage ({})", share)};
  }
  if (by == "copy") {
    return {"copy", kCopyIsLonger};
  }
  if (by == "workers") {
    return {"workers", fmt::format("every worker is busy ({})", share.empty() ? "no stages known" : share)};
  }
  if (stage == "hand_off") {
    return {"hand_off", fmt::format("workers spend their time handing batches over ({})", share)};
  }
  const bool cores_busy = by == "cores" || (point != nullptr && makes_all_it_can(evidence, *point));
  if (evidence.profile && cores_busy) {
    const simulator::ScalabilityLaw& law = evidence.profile->law.law;
    const auto growth = cpu_growth(evidence, law.cores);
    if (law.cores > 1 && law.at(law.cores) < kLostProportion * law.one * law.cores && growth &&
        *growth > kMoreCpu) {
      return {"memory",
              fmt::format("all cores together make {:.1f} times what one makes, and an image costs {} more "
                          "processor time than on one: what they share (memory bandwidth, caches, the "
                          "threads of a core) is used up",
                          law.at(law.cores) / law.one, format_percent(*growth - 1))};
    }
  }
  if (by == "order") {
    return {"order", "a slow batch holds back all behind it"};
  }
  if (by == "wake") {
    return {"wake", "the consumer's thread waits for a core that workers keep busy"};
  }
  if (by == "prefetch") {
    return {"prefetch", "too few batches are made ahead for how much their times vary"};
  }
  if (!cores_busy) {
    return {"unknown", by == "consumer"
                           ? "the simulation expects it to be fed, and what it lacks was not found"
                           : "what it lacks was not found"};
  }
  if (stage.empty()) {
    return {"cores", "all cores are busy"};
  }
  return {stage, fmt::format("all cores are busy, and {}", share)};
}

std::optional<Finding> claim_plateau(const LoaderEvidence& evidence) {
  const auto& pool = evidence.points.pool;
  Finding finding = claim_of("plateau", "images/s");
  if (pool.size() > 1) {
    const LoaderPoint& best = *std::ranges::max_element(
        pool, {}, [](const LoaderPoint& point) { return point.images_per_s.value; });
    finding.value = best.images_per_s.value;
    if (best.images_per_s.ci95.low < best.images_per_s.ci95.high) {
      finding.ci95 = best.images_per_s.ci95;
    }
    finding.evidence = {best.name};
    finding.details = {{"workers", best.workers}};
    const bool fed = best.au && best.au->value >= kFed;
    const auto& ready = evidence.points.ready;
    if (fed && ready && best.compute_ns > kSlower * ready->compute_ns) {
      finding.details["limited_by"] = "shared_cores";
      finding.claim = fmt::format(
          "The plateau is {}, with {}: the consumer computes nearly all the time (AU {:.2f}), but shares the "
          "cores with "
          "the loader, and a step's computing takes {} instead of {} ({} with ready data).",
          images_text(best.images_per_s.value), workers_text(best.workers), best.au->value,
          format_duration(best.compute_ns), format_duration(ready->compute_ns),
          images_text(ready->images_per_s.value));
      return finding;
    }
    if (waits_for_copies(best)) {
      finding.details["limited_by"] = "copy";
      finding.claim =
          fmt::format("The plateau is {}, with {}: {} ({} and {}).", images_text(best.images_per_s.value),
                      workers_text(best.workers), kCopyIsLonger, format_duration(best.copy_ns),
                      format_duration(best.compute_ns));
      return finding;
    }
    const LoaderLimit limit = fed ? LoaderLimit{"consumer", ""} : loader_limit(evidence, best.workers);
    finding.details["limited_by"] = limit.what;
    finding.claim =
        fed ? fmt::format("The plateau is {}, with {}: the consumer takes no more (AU {:.2f}).",
                          images_text(best.images_per_s.value), workers_text(best.workers), best.au->value)
            : fmt::format("The plateau is {}, with {}{}: {}.", images_text(best.images_per_s.value),
                          workers_text(best.workers),
                          best.au ? fmt::format(", and leaves the consumer an AU of {:.2f}", best.au->value)
                                  : std::string(),
                          limit.why);
    return finding;
  }
  if (!evidence.simulated || !pool.empty()) {
    return std::nullopt;
  }
  const SimulatedPoint& best =
      *std::ranges::max_element(evidence.simulated->points, {}, &SimulatedPoint::images_per_s);
  const bool fed = best.au >= kFed && best.limited_by != "copy";
  const LoaderLimit limit = fed ? LoaderLimit{"consumer", ""} : loader_limit(evidence, best.workers);
  finding.value = best.images_per_s;
  finding.details = {{"workers", best.workers}, {"limited_by", limit.what}};
  finding.claim =
      fmt::format("Simulated: the plateau is {}, with {}: {}.", images_text(best.images_per_s),
                  workers_text(best.workers),
                  fed ? fmt::format("the consumer takes no more (AU {:.2f})", best.au) : limit.why);
  return finding;
}

}  // namespace bench::sweeps
