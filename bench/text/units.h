// Sizes, times and rates, from and to text.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// A size in bytes: "512MiB", "1.5GiB", "12 GB". Units: B, KiB, MiB, GiB (powers of 1024), KB, MB, GB (powers
// of 1000); a fraction of a byte is dropped. `option` is what the error names, such as "--memory-cap".
// Throws UsageError for a size without unit, negative, below 1 B, above 2^63-1 B, or anything else.
std::int64_t parse_bytes(std::string_view option, std::string_view text);

// A duration: "500ms", "60s", "1.5min". Throws UsageError as parse_bytes does.
std::chrono::nanoseconds parse_duration(std::string_view option, std::string_view text);

// A share: "3%", "0.5 %", "0.03". Throws UsageError where it is negative, above 100 %, no number, or
// 1 or more without a percent sign.
double parse_share(std::string_view option, std::string_view text);

// Divisor of a number before it is printed, and the prefix of its unit.
struct Scale {
  double by = 1;
  std::string_view prefix;
};

Scale duration_scale(double nanoseconds);  // "ns" to "min"
Scale rate_scale(double per_second);       // "", "k" to "P"

// Three significant digits, and every digit of a whole part: "0.0123", "41.2", "1234".
std::string format_number(double value);

// "0 B", "980 B", "1.23 GiB": three significant digits, powers of 1024, up to TiB.
std::string format_bytes(std::int64_t bytes);

// "870 ns", "41.2 ms", "2.50 s", "12.0 min".
std::string format_duration(double nanoseconds);

// With an SI prefix: format_rate(5.1e13, "FLOP/s") is "51.0 TFLOP/s".
std::string format_rate(double per_second, std::string_view unit);

// "87 %", "3.2 %": one decimal below 10 %.
std::string format_percent(double fraction);

}  // namespace bench
