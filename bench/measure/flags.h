// How a table marks the points that carry flags.
#pragma once

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
  bool any() const { return !separating_.empty(); }

 private:
  std::set<std::string> separating_;
};

}  // namespace bench
