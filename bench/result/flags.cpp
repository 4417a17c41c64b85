#include "bench/result/flags.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>

#include <fmt/format.h>

#include "bench/result/sessions.h"
#include "bench/stats/rounds.h"

namespace bench {
namespace {

// Threads that wait without spinning were asked for already.
bool waits_passively(const RunContext& context) {
  std::string policy = context.detail("omp_wait_policy");
  std::ranges::transform(policy, policy.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return policy == "passive";
}

// Nine of ten at most.
bool separates_points(std::size_t flagged, std::size_t all) {
  return 10 * flagged <= 9 * all;
}

}  // namespace

bool has_flag(const Point& point, std::string_view flag) {
  return std::ranges::find(point.validity.flags, flag) != point.validity.flags.end();
}

std::string_view class_of_flag(std::string_view flag) {
  if (flag == kNoisyFlag || flag == kFewRoundsFlag) {
    return "imprecise";
  }
  return flag == kDisturbed ? kContention : flag;
}

FlagMarks::FlagMarks(std::span<const Point> points) {
  std::map<std::string_view, std::set<const Point*>> by_class;
  for (const Point& point : points) {
    for (const std::string& flag : point.validity.flags) {
      by_class[class_of_flag(flag)].insert(&point);
    }
  }
  std::set<const Point*> marked;
  for (const auto& [flag_class, flagged] : by_class) {
    if (separates_points(flagged.size(), points.size())) {
      marking_.emplace(flag_class);
      marked.insert(flagged.begin(), flagged.end());
    }
  }
  if (!separates_points(marked.size(), points.size())) {
    marking_.clear();
  }
}

std::string_view FlagMarks::of(const Point& point) const {
  return std::ranges::any_of(point.validity.flags,
                             [this](const std::string& flag) { return separates(class_of_flag(flag)); })
             ? "○"
             : "";
}

std::optional<Finding> claim_conditions(const ResultDocument& document) {
  Finding finding = finding_of(kConditions, "points");
  for (const Point& point : measured_points(document)) {
    if (has_flag(point, kContention)) {
      finding.evidence.push_back(point.name);
    }
  }
  if (finding.evidence.empty()) {
    return std::nullopt;
  }
  finding.value = static_cast<double>(finding.evidence.size());
  finding.claim =
      fmt::format("Other processes used the CPU during {} of {} point{} [run on an idle machine{}].",
                  finding.evidence.size(), measured_points(document).size(),
                  measured_points(document).size() == 1 ? "" : "s",
                  waits_passively(document.context)
                      ? ""
                      : ", or with OMP_WAIT_POLICY=passive, 11 to 20 % slower on an idle one");
  return finding;
}

}  // namespace bench
