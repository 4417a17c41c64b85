// Points that carry flags: their mark in the tables, and one finding on them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "bench/result/result.h"

namespace bench {

// Faster than the device's peak: the point did other work than counted, and proves nothing.
inline constexpr std::string_view kAbovePeak = "above_peak";

bool has_flag(const Point& point, std::string_view flag);

// Flags of one class give one reason: "noisy" and "few_rounds" both say "imprecise", "disturbed" says what
// kContention does; any other flag is its own.
std::string_view class_of_flag(std::string_view flag);

// A class is worth a mark only where it separates some points from others, and marks only where they do: nine
// of ten points at most have one.
class FlagMarks {
 public:
  explicit FlagMarks(std::span<const Point> points);

  // "○" for a point with such a flag, else "".
  std::string_view of(const Point& point) const;
  bool separates(std::string_view flag_class) const { return marking_.contains(flag_class); }

 private:
  std::set<std::string, std::less<>> marking_;
};

inline constexpr const char* kConditions = "conditions";
// The finding of this name: the points during which other processes used the CPU; nullopt where there are
// none.
std::optional<Finding> claim_conditions(const ResultDocument& document);

}  // namespace bench
