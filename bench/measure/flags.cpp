#include "bench/measure/flags.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace bench {

FlagMarks::FlagMarks(std::span<const MeasuredPoint> points) {
  std::map<std::string, std::size_t> counts;
  for (const MeasuredPoint& point : points) {
    for (const std::string& flag : point.validity.flags) {
      ++counts[flag];
    }
  }
  for (const auto& [flag, count] : counts) {
    if (count < points.size()) {
      separating_.insert(flag);
    }
  }
}

std::string_view FlagMarks::of(const MeasuredPoint& point) const {
  return std::ranges::any_of(point.validity.flags,
                             [this](const std::string& flag) { return separating_.contains(flag); })
             ? "○"
             : "";
}

}  // namespace bench
