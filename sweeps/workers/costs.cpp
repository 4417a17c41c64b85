// The cost of a sample for the workers, and of the workers for the consumer.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {

std::optional<Finding> claim_scaling(const Evidence& evidence) {
  if (!evidence.profile || evidence.profile->law_workers.size() < 2) {
    return std::nullopt;  // one count does not show how others relate to it
  }
  const Profile& profile = *evidence.profile;
  const simulator::ScalabilityLaw& law = profile.law.law;
  Finding finding = finding_of("scaling", "images/s", names_of(evidence.points.capacity));
  finding.value = law.at(law.cores);
  const double scale = *finding.value / law.one;
  finding.ci95 = Interval{profile.law.one_ci95.low * scale, profile.law.one_ci95.high * scale};
  finding.details = {{"one", law.one},     {"sigma", law.sigma},
                     {"kappa", law.kappa}, {"crowding", law.oversubscription},
                     {"cores", law.cores}, {"worst_error", profile.law.worst_error}};
  // Up to three numbers (λ, σ, κ) are fitted to the counts within the cores, one to those beyond: as many
  // counts are met exactly, right or wrong.
  const auto within = std::ranges::count_if(
      profile.law_workers, [&](std::int64_t workers) { return static_cast<double>(workers) <= law.cores; });
  const bool has_error = within > 3 || std::ssize(profile.law_workers) - within > 1;
  finding.claim = fmt::format(
      "One worker makes {}{}, workers on all {:g} cores {}: {:.2f} times as much (fitted to {} with {} "
      "workers{})",
      rate_text(law.one), profile.pipeline.storage ? " without waits for storage" : "", law.cores,
      rate_text(*finding.value), scale, profile.law_from, fmt::join(profile.law_workers, ", "),
      has_error ? fmt::format("; off by at most {}", format_percent(profile.law.worst_error)) : "");
  if (profile.law.largest_active + 0.5 < law.cores) {
    finding.claim += fmt::format("; beyond {} workers computing at once it is an extrapolation",
                                 format_number(profile.law.largest_active));
  }
  return finding;
}

std::optional<Finding> claim_stages(const Evidence& evidence) {
  const LoaderPoint* shown = nullptr;
  for (const auto* list : {&evidence.points.capacity, &evidence.points.pool}) {
    for (const LoaderPoint& point : *list) {
      shown = shown == nullptr && point.stages_ns.total() > 0 ? &point : shown;
    }
  }
  loader::StageTimes stages = evidence.profile ? evidence.profile->stages_ns : loader::StageTimes{};
  if (shown != nullptr) {
    stages = shown->stages_ns;
  }
  if (!(stages.total() > 0)) {
    return std::nullopt;
  }
  Finding finding = finding_of("stages", "ns");
  if (shown != nullptr) {
    finding.evidence = {shown->name};
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
