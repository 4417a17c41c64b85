// What the machine did to the points, and what that does to a claim.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "sweeps/series/claims.h"

namespace bench::sweeps {
namespace {

constexpr std::string_view kContention = "throttled:cpu_contention";

bool contended(const BatchPoint& point) {
  return std::ranges::find(point.throttled, kContention) != point.throttled.end();
}

// Threads that wait without spinning were asked for already.
bool waits_passively(const Json& context) {
  const Json::json_pointer place("/device/omp_wait_policy");
  if (!context.contains(place) || !context[place].is_string()) {
    return false;
  }
  std::string policy = context[place].get<std::string>();
  std::ranges::transform(policy, policy.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return policy == "passive";
}

}  // namespace

std::string with_caveat(std::string claim, const std::vector<BatchPoint>& points) {
  std::set<std::string> throttled;
  for (const BatchPoint& point : points) {
    throttled.insert(point.throttled.begin(), point.throttled.end());
  }
  std::string caveat;
  if (throttled.erase(std::string(kContention)) > 0) {
    caveat += fmt::format("; measured while other work held the cores ({}): run again on an idle machine",
                          kContention);
  }
  if (!throttled.empty()) {
    caveat += fmt::format("; measured while the machine was held back ({}): run again when it is not",
                          fmt::join(throttled, ", "));
  }
  if (std::ranges::any_of(points, &BatchPoint::few_rounds)) {
    caveat += "; measured in less than 3 rounds (few_rounds): run again with a longer --time-budget";
  }
  if (claim.ends_with('.')) {
    claim.pop_back();
  }
  return claim + caveat + ".";
}

std::string batches_in_words(std::int64_t low, std::int64_t high) {
  return low == high ? fmt::format("batch {}", low) : fmt::format("batch {} to {}", low, high);
}

std::optional<Finding> claim_conditions(const std::vector<BatchSeries>& all, const Json& context) {
  Finding finding = finding_of("conditions", "points");
  std::size_t points = 0;
  for (const BatchSeries& series : all) {
    points += series.points.size();
    for (const BatchPoint& point : series.points) {
      if (contended(point)) {
        finding.evidence.push_back(point.name);
      }
    }
  }
  if (finding.evidence.empty()) {
    return std::nullopt;
  }
  const std::size_t held_up = finding.evidence.size();
  finding.value = static_cast<double>(held_up);
  finding.claim = fmt::format(
      "{} of {} {} measured while other work held the cores ({}): run again on an idle machine{}.", held_up,
      points == 1 ? "1 point" : fmt::format("{} points", points), held_up == 1 ? "was" : "were", kContention,
      waits_passively(context) ? "" : ", or with OMP_WAIT_POLICY=passive where the machine cannot be idle");
  return finding;
}

}  // namespace bench::sweeps
