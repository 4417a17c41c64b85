// Claims about what to do: how many workers, how much prefetch, pinned or not, and which GPUs this host can
// feed.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

// The smallest that reaches 99 % of the best. One batch a worker leaves nothing for a bad moment, and
// simulated times hold no bad moments but those that were measured: not less than two, unless that was asked
// for.
std::optional<std::int64_t> enough_prefetch(const Simulated& simulated) {
  double best = 0;
  for (const auto& [prefetch, au] : simulated.prefetches) {
    best = std::max(best, au);
  }
  for (const auto& [prefetch, au] : simulated.prefetches) {
    if (au >= 0.99 * best && prefetch >= std::min<std::int64_t>(2, simulated.prefetch)) {
      return prefetch;
    }
  }
  return std::nullopt;
}

// Ready data from both kinds of host memory, pinned first; nullopt where only one was measured.
std::optional<std::pair<const LoaderPoint*, const LoaderPoint*>> both_stagings(const LoaderPoints& points) {
  if (!points.ready || !points.other_staging) {
    return std::nullopt;
  }
  const bool ready_is_pinned = points.ready->staging == "pinned";
  return std::pair(ready_is_pinned ? &*points.ready : &*points.other_staging,
                   ready_is_pinned ? &*points.other_staging : &*points.ready);
}

// Faster beyond both intervals, and by what is worth the trouble.
bool pays(const LoaderPoint& pinned, const LoaderPoint& pageable) {
  constexpr double kWorthIt = 1.01;
  return pinned.images_per_s.ci95.low > pageable.images_per_s.ci95.high &&
         pinned.images_per_s.value > kWorthIt * pageable.images_per_s.value;
}

std::string pinning_text(const Profile& profile, const LoaderPoints& points) {
  if (const auto both = both_stagings(points)) {
    return pays(*both->first, *both->second) ? "pin them" : "pinning them buys nothing";
  }
  if (profile.consumer_device == "cpu") {
    return "pinning buys nothing, for the consumer computes in the host's own memory";
  }
  if (profile.consumer_device == "none" || profile.consumer_device.empty()) {
    return "whether pinning pays is for `bench --sweep transfer` to say, on the device";
  }
  return profile.pinned ? "in pinned memory, as measured, so that the copy goes on beside the computing"
                        : "pin it, so that the copy can go on beside the computing (it was not pinned here)";
}

std::string limit_text(const LoaderEvidence& evidence, const SimulatedDemand& answer) {
  if (answer.limited_by == "storage") {
    return "storage is the limit";
  }
  if (answer.limited_by == "copy") {
    return evidence.profile ? fmt::format("copying a batch, which takes {} here, is the limit",
                                          format_duration(evidence.profile->copy_ns))
                            : "copying is the limit";
  }
  if (evidence.profile && !evidence.profile->stages_ns.empty()) {
    const auto& stages = evidence.profile->stages_ns;
    const auto most = std::ranges::max_element(stages, {}, [](const auto& stage) { return stage.second; });
    return fmt::format("the cores are the limit, and {} takes most of their time", stage_text(most->first));
  }
  return "the cores are the limit";
}

}  // namespace

std::optional<Finding> claim_recommended(const ResultDocument& document, const LoaderEvidence& evidence) {
  const auto measured = evidence.measured_knee();
  const auto simulated = evidence.simulated_knee(false);
  if (!evidence.profile || !(measured && measured->batch) || evidence.points.pool.size() < 2) {
    if (!evidence.profile || !simulated || !simulated->batch) {
      return std::nullopt;
    }
  }
  const Profile& profile = *evidence.profile;
  const bool by_measuring = measured && measured->batch;
  const std::int64_t workers = by_measuring ? *measured->batch : *simulated->batch;
  Finding finding = claim_of("recommended_workers", "workers");
  if (by_measuring) {
    finding.evidence = {evidence.points.at(workers)->name};
    finding.ci95 = Interval{static_cast<double>(measured->low), static_cast<double>(measured->high)};
  }
  finding.value = static_cast<double>(workers);
  finding.details = {{"workers", workers}};
  const double au = by_measuring ? evidence.points.at(workers)->au.value_or(Measured{}).value
                                 : evidence.simulated_at(workers)->au;
  if (workers == 0 && au < kFed) {
    finding.claim = fmt::format(
        "{}No number of workers feeds the consumer{}: with none the AU is {:.2f}, and more gain less than 5 "
        "% of it.",
        by_measuring ? "" : "Simulated: ", evidence.simulated && evidence.simulated->gpus > 1 ? "s" : "", au);
    return finding;
  }
  if (workers == 0) {
    finding.details["host_bytes"] = profile.slot_bytes;
    finding.claim = fmt::format(
        "{}Load in the consumer's own thread (0 workers): making a batch costs so little that workers gain "
        "less "
        "than 5 %.",
        by_measuring ? "" : "Simulated: ");
    return finding;
  }
  const std::int64_t used = evidence.simulated ? evidence.simulated->prefetch : profile.prefetch;
  std::int64_t prefetch = used;
  if (evidence.simulated) {
    prefetch = enough_prefetch(*evidence.simulated).value_or(prefetch);
  }
  const int gpus = evidence.simulated ? evidence.simulated->gpus : 1;
  const double all = static_cast<double>(workers) * gpus;
  const double slots = all * static_cast<double>(prefetch) * profile.slot_bytes;
  const double scratch = all * profile.scratch_bytes_per_worker;
  finding.details["prefetch"] = prefetch;
  finding.details["host_bytes"] = slots + scratch;
  finding.details["slot_bytes"] = profile.slot_bytes;
  finding.details["pinned_bytes"] = profile.pinned ? slots : 0;
  const auto bytes = [](double count) { return format_bytes(static_cast<std::int64_t>(count)); };
  finding.claim = fmt::format(
      "{}Take {}{}, prefetch {}{}: they hold {} of host memory ({} batch{} of {}{}); {}.",
      by_measuring ? "" : "Simulated: ", workers_text(workers), gpus > 1 ? " a GPU" : "", prefetch,
      prefetch == used
          ? ""
          : fmt::format(" (simulated; {} was {})", used, by_measuring ? "measured" : "asked for"),
      bytes(slots + scratch), workers * prefetch * gpus, workers * prefetch * gpus == 1 ? "" : "es",
      bytes(profile.slot_bytes),
      scratch > 0 ? fmt::format(", and {} of each worker's own", bytes(profile.scratch_bytes_per_worker))
                  : std::string(),
      pinning_text(profile, evidence.points));
  const double host = document.context.is_object() && document.context.contains("host") &&
                              document.context["host"].is_object()
                          ? document.context["host"].value("memory_bytes", 0.0)
                          : 0;
  if (host > 0 && slots + scratch > host) {
    finding.claim += fmt::format(" That does not fit: the host has {}.", bytes(host));
  }
  return finding;
}

std::optional<Finding> claim_pinning(const LoaderEvidence& evidence) {
  const auto both = both_stagings(evidence.points);
  if (!both) {
    return std::nullopt;
  }
  const auto& [pinned, pageable] = *both;
  Finding finding = claim_of("pinning", "ratio", {pinned->name, pageable->name});
  finding.value = pinned->images_per_s.value / pageable->images_per_s.value;
  finding.ci95 = Interval{pinned->images_per_s.ci95.low / pageable->images_per_s.ci95.high,
                          pinned->images_per_s.ci95.high / pageable->images_per_s.ci95.low};
  finding.claim = fmt::format(
      "With ready data the consumer takes {} from pinned memory and {} from pageable ({} and {} to copy a "
      "batch, beside "
      "the computing): {}.",
      images_text(pinned->images_per_s.value), images_text(pageable->images_per_s.value),
      format_duration(pinned->copy_ns), format_duration(pageable->copy_ns),
      pays(*pinned, *pageable) ? "pin" : "don't pin, it buys nothing here");
  return finding;
}

std::vector<Finding> claim_demands(const LoaderEvidence& evidence) {
  std::vector<Finding> findings;
  if (!evidence.simulated) {
    return findings;
  }
  std::vector<std::string> names;
  for (const LoaderPoint& point : evidence.points.capacity) {
    names.push_back(point.name);
  }
  for (const SimulatedDemand& answer : evidence.simulated->demands) {
    Finding finding = claim_of(fmt::format("demand/{}", answer.demand.name), "workers", names);
    finding.details = {{"images_per_s", answer.demand.images_per_s},
                       {"gpus", answer.gpus},
                       {"au", answer.au},
                       {"tops_out_images_per_s", answer.tops_out},
                       {"limited_by", answer.limited_by},
                       {"source", answer.demand.source}};
    const std::string who =
        answer.gpus > 1
            ? fmt::format("{} of {}, each taking {},", answer.gpus, answer.demand.name,
                          images_text(answer.demand.images_per_s))
            : fmt::format("{}, which takes {},", answer.demand.name, images_text(answer.demand.images_per_s));
    if (answer.workers) {
      finding.value = static_cast<double>(*answer.workers);
      finding.claim =
          fmt::format("Simulated: {} need{} {}{} on this host (AU {:.2f}).", who, answer.gpus > 1 ? "" : "s",
                      workers_text(*answer.workers), answer.gpus > 1 ? " each" : "", answer.au);
    } else {
      finding.claim = fmt::format(
          "Simulated: this host cannot feed {}: it tops out at {} whatever the workers, for an AU of {:.2f}; "
          "{}.",
          who.substr(0, who.size() - 1), images_text(answer.tops_out), answer.au,
          limit_text(evidence, answer));
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
