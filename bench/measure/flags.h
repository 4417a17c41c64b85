// What a run says of points that carry flags: the mark in its tables, and one finding.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure/result.h"

namespace bench {

inline constexpr std::string_view kContention = "throttled:cpu_contention";

// A flag is worth a mark only where it separates some points from others.
class FlagMarks {
 public:
  explicit FlagMarks(std::span<const MeasuredPoint> points);

  // "○" for a point with such a flag, else "".
  std::string_view of(const MeasuredPoint& point) const;
  bool separates(const std::string& flag) const { return separating_.contains(flag); }

 private:
  std::set<std::string> separating_;
};

// The finding "conditions": the points during which other processes used the CPU; nullopt where there are
// none.
std::optional<Finding> claim_conditions(const ResultDocument& document);

}  // namespace bench
