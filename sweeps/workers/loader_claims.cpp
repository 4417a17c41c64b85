// Claims about the loader itself: how it scales, where its time goes, what it does to the consumer.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "sweeps/workers/claims.h"

namespace bench::sweeps {
namespace {

// A law with as many numbers as there are counts meets each of them, right or wrong: up to three of them (λ,
// σ, κ) for the counts up to the cores, one for those beyond.
bool could_be_off(const Profile& profile) {
  const auto all = std::ssize(profile.law_workers);
  const auto within = std::ranges::count_if(profile.law_workers, [&](std::int64_t workers) {
    return static_cast<double>(workers) <= profile.law.law.cores;
  });
  return within > 3 || all - within > 1;
}

}  // namespace

std::optional<Finding> claim_law(const LoaderEvidence& evidence) {
  // From one count alone nothing is known of how the others relate to it.
  if (!evidence.profile || evidence.profile->law_workers.size() < 2) {
    return std::nullopt;
  }
  const simulator::LawFit& fit = evidence.profile->law;
  std::vector<std::string> names;
  for (const LoaderPoint& point : evidence.points.capacity) {
    names.push_back(point.name);
  }
  Finding finding = claim_of("scaling", "images/s", std::move(names));
  finding.value = fit.law.at(fit.law.cores);
  const double scale = *finding.value / fit.law.one;
  const bool reads_wait = evidence.profile->storage.has_value();
  finding.ci95 = Interval{fit.one_ci95.low * scale, fit.one_ci95.high * scale};
  finding.details = {{"one", fit.law.one},     {"sigma", fit.law.sigma},
                     {"kappa", fit.law.kappa}, {"crowding", fit.law.crowding},
                     {"cores", fit.law.cores}, {"worst_error", fit.worst_error}};
  finding.claim = fmt::format(
      "One worker {} {}; on all {:g} cores workers {} {}, {:.2f} times as much (fitted to {} at "
      "{}; {}).",
      reads_wait ? "that waits for no read would make" : "alone makes", images_text(fit.law.one),
      fit.law.cores, reads_wait ? "would make" : "make", images_text(*finding.value), scale,
      evidence.profile->law_from,
      [&] {
        std::string counts;
        for (const std::int64_t count : evidence.profile->law_workers) {
          counts += fmt::format("{}{}", counts.empty() ? "" : ", ", count);
        }
        return counts + " workers";
      }(),
      could_be_off(*evidence.profile)
          ? fmt::format("off by at most {}", format_percent(fit.worst_error))
          : std::string("as many numbers as counts: how far off it is was not measured"));
  if (fit.largest_active + 0.5 < fit.law.cores) {
    finding.claim += fmt::format(" Beyond {} workers that compute at once it is an extrapolation.",
                                 format_number(fit.largest_active));
  } else if (!fit.beyond_cores) {
    finding.claim += " What more workers than cores cost was not measured.";
  }
  return finding;
}

std::optional<Finding> claim_stages(const LoaderEvidence& evidence) {
  const auto& points = evidence.points;
  const LoaderPoint* shown = nullptr;
  for (const auto* list : {&points.capacity, &points.pool}) {
    for (const LoaderPoint& point : *list) {
      shown = shown == nullptr && total(point.stages_ns) > 0 ? &point : shown;
    }
  }
  const auto stages = shown != nullptr   ? shown->stages_ns
                      : evidence.profile ? evidence.profile->stages_ns
                                         : std::map<std::string, double>();
  if (!(total(stages) > 0)) {
    return std::nullopt;
  }
  Finding finding = claim_of("stages", "ns");
  if (shown != nullptr) {
    finding.evidence = {shown->name};
  }
  const auto [most, time] = largest(stages);
  finding.value = total(stages);
  finding.details = {{"largest", most}, {"stages_ns", stages}};
  std::string split;
  for (const std::string& stage : stage_names()) {
    if (const auto found = stages.find(stage); found != stages.end()) {
      split += fmt::format("{}{} {}", split.empty() ? "" : ", ", stage_text(stage),
                           format_duration(found->second));
    }
  }
  finding.claim = fmt::format("An image takes a worker {}{}: {}; {} is {}.", format_duration(*finding.value),
                              shown == nullptr ? "" : fmt::format(" with {}", workers_text(shown->workers)),
                              split, stage_text(most), format_percent(time / *finding.value));
  return finding;
}

std::optional<Finding> claim_slowdown(const LoaderEvidence& evidence) {
  const auto& points = evidence.points;
  if (!points.ready || !(points.ready->compute_ns > 0)) {
    return std::nullopt;
  }
  const LoaderPoint* worst = nullptr;
  for (const LoaderPoint& point : points.pool) {
    if (point.workers > 0 && (worst == nullptr || point.compute_ns > worst->compute_ns)) {
      worst = &point;
    }
  }
  if (worst == nullptr || points.ready->few_rounds || worst->few_rounds) {
    return std::nullopt;  // what disturbed one of them would be blamed on the workers, or hide what they do
  }
  Finding finding = claim_of("consumer_slowdown", "1", {points.ready->name, worst->name});
  finding.value = worst->compute_ns / points.ready->compute_ns - 1;
  finding.details = {{"workers", worst->workers}, {"by_workers", Json::array()}};
  for (const LoaderPoint& point : points.pool) {
    finding.details["by_workers"].push_back(
        {{"workers", point.workers}, {"slowdown", point.compute_ns / points.ready->compute_ns - 1}});
  }
  constexpr double kNoticed = 0.02;
  constexpr double kDisturbed = -0.05;
  if (*finding.value < kDisturbed) {
    finding.claim = fmt::format(
        "Whether workers slow the consumer down was not found: its computing took {} with ready data, and "
        "less, "
        "at most {}, beside workers; other work must have disturbed it.",
        format_duration(points.ready->compute_ns), format_duration(worst->compute_ns));
  } else if (*finding.value < kNoticed) {
    finding.claim = fmt::format(
        "The consumer is not slowed down by the workers{}.",
        *finding.value < 0.001
            ? std::string()
            : fmt::format(": its computing takes at most {} longer", format_percent(*finding.value)));
  } else {
    finding.claim = fmt::format(
        "The consumer itself slows down as workers grow: with {} its computing takes {}, {:.2f} times the {} "
        "it takes with ready data{}.",
        workers_text(worst->workers), format_duration(worst->compute_ns), 1 + *finding.value,
        format_duration(points.ready->compute_ns),
        evidence.profile && evidence.profile->consumer_on_cores ? "; both use the same cores" : "");
  }
  return finding;
}

namespace {

// ": a.jpg (it is empty), b.jpg (…) and 3 more": the first that the run noted.
std::string named_files(const ResultDocument& document, std::int64_t count) {
  constexpr std::size_t kNamed = 10;
  constexpr std::size_t kLongestReason = 200;
  const Json files = loader_note(document, "bad_files");
  std::vector<std::string> named;
  for (const Json& file : files.is_array() ? files : Json::array()) {
    if (named.size() < kNamed && file.is_object()) {
      const auto text = [&](const char* key) {
        const Json there = file.value(key, Json());
        return there.is_string() ? there.get<std::string>() : std::string("?");
      };
      named.push_back(
          fmt::format("{} ({})", printable(text("file")), printable(text("reason"), kLongestReason)));
    }
  }
  if (named.empty()) {
    return "";
  }
  const auto more = count - static_cast<std::int64_t>(named.size());
  return fmt::format(": {}{}", fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::optional<Finding> claim_bad_files(const ResultDocument& document, const LoaderEvidence& evidence) {
  std::int64_t most = 0;
  std::vector<std::string> names;
  for (const auto* list : {&evidence.points.capacity, &evidence.points.pool}) {
    for (const LoaderPoint& point : *list) {
      most = std::max(most, point.bad_files);
      if (point.bad_files > 0) {
        names.push_back(point.name);
      }
    }
  }
  const Json noted = loader_note(document, "bad_files");
  most = std::max(most, noted.is_array() ? static_cast<std::int64_t>(noted.size()) : 0);
  if (most == 0) {
    return std::nullopt;
  }
  Finding finding = claim_of("bad_files", "files", std::move(names));
  finding.value = static_cast<double>(most);
  finding.claim = fmt::format("{} could not be used and {} skipped{}.",
                              most == 1 ? "1 file" : fmt::format("{} files", most),
                              most == 1 ? "was" : "were", named_files(document, most));
  return finding;
}

}  // namespace bench::sweeps
