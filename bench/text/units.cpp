#include "bench/text/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t scale;
};

// Units of a kind of quantity, and how an error names it.
struct Quantity {
  std::string_view noun;
  std::string_view accepted;
  std::span<const Unit> units;
};

constexpr std::array<Unit, 9> kByteUnits{{{"B", 1},
                                          {"KiB", 1LL << 10},
                                          {"MiB", 1LL << 20},
                                          {"GiB", 1LL << 30},
                                          {"TiB", 1LL << 40},
                                          {"KB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000}}};
constexpr std::array<Unit, 3> kTimeUnits{{{"ms", 1'000'000}, {"s", 1'000'000'000}, {"min", 60'000'000'000}}};

constexpr Quantity kBytes{
    "size", "give a size such as 512MiB or 12GiB (B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)", kByteUnits};
constexpr Quantity kTime{"time", "give a time such as 500ms, 60s or 2min (ms, s, min)", kTimeUnits};

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view why,
                         const Quantity& quantity) {
  throw UsageError(fmt::format("{}: {} {}; {}", option, quote(text), why, quantity.accepted));
}

bool is_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && is_digit(text.front()) && is_digit(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return is_digit(c) || c == '.'; }) &&
         std::ranges::count(text, '.') <= 1;
}

// number × scale; nullopt where it does not fit. Whole numbers stay exact beyond 2^53.
std::optional<std::int64_t> scaled(std::string_view number, std::int64_t scale) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (number.find('.') == std::string_view::npos) {
    std::int64_t whole = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), whole);
    if (read.ec != std::errc{} || whole > kLargest / scale) {
      return std::nullopt;
    }
    return whole * scale;
  }
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  value *= static_cast<double>(scale);
  if (read.ec != std::errc{} || value >= static_cast<double>(kLargest)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t parse_quantity(std::string_view option, std::string_view text, const Quantity& quantity) {
  std::string_view number = text;
  const bool negative = number.starts_with('-');
  number.remove_prefix(negative ? 1 : 0);
  const std::size_t end = std::min(number.find_first_not_of("0123456789."), number.size());
  std::string_view unit = number.substr(end);
  unit.remove_prefix(unit.starts_with(' ') ? 1 : 0);
  number = number.substr(0, end);

  if (!is_number(number)) {
    refuse(option, text, fmt::format("is not a {}", quantity.noun), quantity);
  }
  if (unit.empty()) {
    const bool zero = number.find_first_not_of("0.") == std::string_view::npos;
    refuse(option, text, zero ? "is zero" : "has no unit", quantity);
  }
  auto known = std::ranges::find(quantity.units, unit, &Unit::name);
  if (unit.size() == 1) {  // "12G" is 12 GiB, as for containers and shells
    const auto begins = [&](const Unit& one) {
      return one.name.ends_with("iB") &&
             std::tolower(one.name.front()) == std::tolower(static_cast<unsigned char>(unit.front()));
    };
    known = known != quantity.units.end() ? known : std::ranges::find_if(quantity.units, begins);
  }
  if (known == quantity.units.end()) {
    std::vector<std::string> meant;  // "1m": units that begin alike
    for (const Unit& one : quantity.units) {
      if (std::tolower(one.name.front()) == std::tolower(static_cast<unsigned char>(unit.front()))) {
        meant.push_back(fmt::format("{}{}", number, one.name));
      }
    }
    refuse(option, text,
           fmt::format("has the unknown unit {}{}", quote(unit),
                       meant.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(meant, " or "))),
           quantity);
  }
  if (negative) {
    refuse(option, text, "is negative", quantity);
  }
  const auto value = scaled(number, known->scale);
  if (!value) {
    refuse(option, text, "is too large", quantity);
  }
  if (*value == 0) {
    refuse(option, text, "is zero", quantity);
  }
  return *value;
}

// The largest prefix that leaves at least 1 after rounding to three digits.
Scale largest_below(double value, std::span<const Scale> ascending) {
  Scale chosen = ascending.front();
  for (const Scale& scale : ascending) {
    if (std::abs(value) / scale.by >= 0.9995) {
      chosen = scale;
    }
  }
  return chosen;
}

std::string with_prefix(double value, const Scale& scale, std::string_view unit) {
  return fmt::format("{} {}{}", format_number(value / scale.by), scale.prefix, unit);
}

}  // namespace

std::int64_t parse_bytes(std::string_view option, std::string_view text) {
  return parse_quantity(option, text, kBytes);
}

double parse_share(std::string_view option, std::string_view text) {
  constexpr std::string_view kAccepted = "give a share such as 3% or 0.03";
  std::string_view number = text;
  const bool percent = number.ends_with('%');
  number.remove_suffix(percent ? 1 : 0);
  number.remove_suffix(percent && number.ends_with(' ') ? 1 : 0);
  double value = 0;
  const auto read = is_number(number) ? std::from_chars(number.data(), number.data() + number.size(), value)
                                      : std::from_chars_result{number.data(), std::errc::invalid_argument};
  if (read.ec != std::errc{}) {
    throw UsageError(fmt::format("{}: {} is not a share; {}", option, quote(text), kAccepted));
  }
  if (!percent && value >= 1) {
    throw UsageError(fmt::format("{}: {} has no percent sign; {}", option, quote(text), kAccepted));
  }
  constexpr double kPercent = 100;
  value /= percent ? kPercent : 1;
  if (value > 1) {
    throw UsageError(fmt::format("{}: {} is more than the whole; {}", option, quote(text), kAccepted));
  }
  return value;
}

std::chrono::nanoseconds parse_duration(std::string_view option, std::string_view text) {
  return std::chrono::nanoseconds(parse_quantity(option, text, kTime));
}

std::string format_number(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  // Rounds first: 9.996 has its decimal exponent raised to 1 by it, and prints as "10.0".
  const std::string scientific = fmt::format("{:.2e}", value);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::clamp(2 - exponent, 0, 12));
}

std::string format_bytes(std::int64_t bytes) {
  if (std::abs(bytes) < 1024) {
    return fmt::format("{} B", bytes);
  }
  static constexpr std::array<Scale, 4> kScales{
      {{0x1.0p10, "Ki"}, {0x1.0p20, "Mi"}, {0x1.0p30, "Gi"}, {0x1.0p40, "Ti"}}};
  const auto value = static_cast<double>(bytes);
  return with_prefix(value, largest_below(value, kScales), "B");
}

Scale duration_scale(double nanoseconds) {
  static constexpr std::array<Scale, 4> kScales{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  return std::abs(nanoseconds) >= 120e9 ? Scale{60e9, "min"} : largest_below(nanoseconds, kScales);
}

std::string format_duration(double nanoseconds) {
  return with_prefix(nanoseconds, duration_scale(nanoseconds), "");
}

Scale rate_scale(double per_second) {
  static constexpr std::array<Scale, 6> kScales{
      {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};
  return largest_below(per_second, kScales);
}

std::string format_rate(double per_second, std::string_view unit) {
  return with_prefix(per_second, rate_scale(per_second), unit);
}

std::string format_percent(double fraction) {
  const double percent = fraction * 100;
  constexpr double kLeast = 0.05;  // rounds to 0.1; less is not nothing
  if (percent != 0 && std::abs(percent) < kLeast) {
    return "<0.1 %";
  }
  return fmt::format("{:.{}f} %", percent, std::abs(percent) < 9.95 && percent != 0 ? 1 : 0);
}

}  // namespace bench
