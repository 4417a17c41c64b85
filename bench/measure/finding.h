// Which findings are printed, and how their numbers are put into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/result.h"

namespace bench {

inline constexpr int kHeadlines = 5;

// Makes headlines 1, 2, … of the findings with these names, at most five: of those that have a value, and of
// the first whatever it says.
void set_headlines(std::vector<Finding>& findings, const std::vector<std::string>& names);

// A number with as many digits as its interval allows: "33.1 ± 1.9", or "1.66 (0.820 to 10.8)" where one side
// is much wider. Without an interval three digits.
std::string plus_minus(double value, const std::optional<Interval>& ci95);
// "8.0 ± 0.4 ms".
std::string plus_minus_duration(double nanoseconds, const std::optional<Interval>& ci95);
// "12.3 ± 0.4 GB/s".
std::string plus_minus_rate(double per_second, const std::optional<Interval>& ci95, std::string_view unit);

}  // namespace bench
