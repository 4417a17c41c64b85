// Numbers with their intervals, in as many digits as these allow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/stats/estimate.h"
#include "bench/stats/ratio.h"
#include "bench/text/units.h"

namespace bench {

// What stands between the ends of an interval, in a sentence and in a cell of a table.
inline constexpr std::string_view kTo = " to ";
inline constexpr std::string_view kToInCell = "–";

// A number with as many digits as its interval allows: "33.1 ± 1.9" where that is right for both ends in the
// digits shown, or else "28 (8 to 57)". Without an interval three digits.
std::string plus_minus(double value, const std::optional<Interval>& ci95, std::string_view to = kTo);
// "777 ± ?" of a single round, which says nothing about the spread between rounds, or without an interval.
std::string plus_minus_of_rounds(double value, const std::optional<Interval>& ci95, std::int64_t rounds,
                                 std::string_view to = kTo);
// "980 (840 to 1150)": of a prediction, always with its ends.
std::string with_interval80(double value, const Interval& interval80, std::string_view to = kTo);
// "12.3 (10.0 to 15.1) GB/s".
std::string with_interval80(double value, const Interval& interval80, const Scale& scale,
                            std::string_view unit, std::string_view to = kTo);
// "980": the same without the interval.
std::string digits80(double value, const Interval& interval80);
// "330 ms": the same of a duration.
std::string duration80(double nanoseconds, const Interval& interval80);
// "8.0 ± 0.4 ms".
std::string plus_minus_duration(double nanoseconds, const std::optional<Interval>& ci95,
                                std::string_view to = kTo);
// "12.3 ± 0.4 GB/s".
std::string plus_minus_rate(double per_second, const std::optional<Interval>& ci95, std::string_view unit,
                            std::string_view to = kTo);

// "1.8 ± 0.2"; where it is predicted "1.8 (1.4 to 2.3)".
std::string in_words(const Ratio& ratio);

}  // namespace bench
