// Which findings are printed, how their numbers are put into words, and what they ask the reader to do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "bench/text/units.h"

namespace bench {

inline constexpr int kHeadlines = 5;

// The findings with these names become headlines 1, 2, …, five at most. A finding without a value is left
// out, unless its name is the first or `without_values` takes them too.
void set_headlines(std::vector<Finding>& findings, const std::vector<std::string>& names,
                   bool without_values = false);

// What stands between the ends of an interval, in a sentence and in a cell of a table.
inline constexpr std::string_view kTo = " to ";
inline constexpr std::string_view kToInCell = "–";

// A number with as many digits as its interval allows: "33.1 ± 1.9", or "30 (8 to 60)" if one side is much
// wider or ± would reach below zero. Without an interval three digits.
std::string plus_minus(double value, const std::optional<Interval>& ci95, std::string_view to = kTo);
// "777 ± ?" of a single round, which says nothing about the spread between rounds, or without an interval.
std::string plus_minus_of_rounds(double value, const std::optional<Interval>& ci95, std::int64_t rounds,
                                 std::string_view to = kTo);
// "980 (840 to 1150)": of a prediction, with two digits of the low end; three where it is within 10 %.
std::string with_interval80(double value, const Interval& interval80, std::string_view to = kTo);
// "12.3 (10.0 to 15.1) GB/s".
std::string with_interval80(double value, const Interval& interval80, const Scale& scale,
                            std::string_view unit, std::string_view to = kTo);
// "980": the same without the interval.
std::string digits80(double value, const Interval& interval80);
// "8.0 ± 0.4 ms".
std::string plus_minus_duration(double nanoseconds, const std::optional<Interval>& ci95,
                                std::string_view to = kTo);
// "12.3 ± 0.4 GB/s".
std::string plus_minus_rate(double per_second, const std::optional<Interval>& ci95, std::string_view unit,
                            std::string_view to = kTo);

// The advice where figures are missing or imprecise.
inline constexpr std::string_view kGiveTime = "give a larger --time-budget";
inline constexpr std::string_view kMeasureLarger = "measure larger batches";
inline constexpr std::string_view kGoOn = "go on with --resume";

// The text of a run that was interrupted: neither its time budget nor its batches had come to their end, so
// that kGoOn takes the place of both.
std::string advice_after_interrupt(std::string text);

}  // namespace bench
