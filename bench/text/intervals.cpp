#include "bench/text/intervals.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bench {
namespace {

constexpr int kMostDigits = 4;  // of a value

int exponent_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
}

// The decimal exponent of the last digit that leaves `value` one digit, two where it starts with a 1.
int last_digit_of(double value) {
  const int exponent = exponent_of(value);
  return std::abs(value) < 2 * std::pow(10, exponent) ? exponent - 1 : exponent;
}

// As last_digit_of() for the half width, and the value at most four digits.
int decimals_of(double value, double half) {
  return std::clamp(-last_digit_of(half), 0, std::max(kMostDigits - 1 - exponent_of(value), 0));
}

// To the digit `last`; further only where a number would lose its first.
std::string rounded(double value, int last) {
  const int digit = value == 0 ? last : std::min(last, last_digit_of(value));
  const double step = std::pow(10, digit);
  return fmt::format("{:.{}f}", std::round(value / step) * step, std::max(-digit, 0));
}

// A rounded half width is never 0: it is not known to be.
double rounded_up(double half, int decimals) {
  return std::max(half, std::pow(10, -decimals));
}

// "8 to 60", "8–60".
std::string ends(const Interval& interval, int last, std::string_view to) {
  return fmt::format("{}{}{}", rounded(interval.low, last), interval.low < 0 ? kTo : to,
                     rounded(interval.high, last));
}

// "30 (8 to 60)"; a digit more where the value would coincide with an end.
std::string lopsided(double value, const Interval& ci95, double half, std::string_view to) {
  const int finest = exponent_of(value) + 1 - kMostDigits;
  int last = std::max(last_digit_of(half), finest);
  const auto coincides = [&] {
    const std::string shown = rounded(value, last);
    return shown == rounded(ci95.low, last) || shown == rounded(ci95.high, last);
  };
  if (last > finest && coincides()) {
    --last;
  }
  return fmt::format("{} ({})", rounded(value, last), ends(ci95, last, to));
}

std::string in_digits(double value, const std::optional<Interval>& ci95, const Scale& scale,
                      std::string_view unit, std::string_view to) {
  const auto in_unit = [&](double x) { return x / scale.by; };
  const std::string suffix =
      scale.prefix.empty() && unit.empty() ? "" : fmt::format(" {}{}", scale.prefix, unit);
  if (!ci95) {
    return format_number(in_unit(value)) + suffix;
  }
  const double below = in_unit(value - ci95->low);
  const double above = in_unit(ci95->high - value);
  const double half = std::max(below, above);
  if (!(half > 0) || !std::isfinite(half)) {
    return format_number(in_unit(value)) + suffix;
  }
  const bool would_reach_zero = ci95->low > 0 && half >= in_unit(value);
  if (std::min(below, above) < half / 3 || would_reach_zero) {
    return lopsided(in_unit(value), {in_unit(ci95->low), in_unit(ci95->high)}, half, to) + suffix;
  }
  // A large figure has two digits of its interval: 2630000 ± 350000.
  const double step = std::max(1.0, std::pow(10.0, exponent_of(half) - 1));
  if (step > 1) {
    return fmt::format("{:.0f} ± {:.0f}{}", std::round(in_unit(value) / step) * step,
                       std::ceil(half / step) * step, suffix);
  }
  const int decimals = decimals_of(in_unit(value), half);
  return fmt::format("{:.{}f} ± {:.{}f}{}", in_unit(value), decimals, rounded_up(half, decimals), decimals,
                     suffix);
}

}  // namespace

std::string plus_minus(double value, const std::optional<Interval>& ci95, std::string_view to) {
  return in_digits(value, ci95, {1, ""}, "", to);
}

std::string plus_minus_of_rounds(double value, const std::optional<Interval>& ci95, std::int64_t rounds,
                                 std::string_view to) {
  return rounds < 2 || !ci95 ? format_number(value) + " ± ?" : plus_minus(value, ci95, to);
}

namespace {

bool is_known80(const Interval& interval80) {
  return interval80.low > 0 && std::isfinite(interval80.high);
}

// The place of the last digit.
int last_digit80(double value, const Interval& interval80) {
  constexpr double kNarrow = 1.1;
  return exponent_of(interval80.low) - (value < kNarrow * interval80.low ? 2 : 1);
}

}  // namespace

std::string digits80(double value, const Interval& interval80) {
  return is_known80(interval80) ? rounded(value, last_digit80(value, interval80)) : format_number(value);
}

std::string with_interval80(double value, const Interval& interval80, std::string_view to) {
  if (!is_known80(interval80)) {
    return format_number(value);
  }
  const int last = last_digit80(value, interval80);
  return fmt::format("{} ({})", rounded(value, last), ends(interval80, last, to));
}

std::string with_interval80(double value, const Interval& interval80, const Scale& scale,
                            std::string_view unit, std::string_view to) {
  return fmt::format(
      "{} {}{}",
      with_interval80(value / scale.by, {interval80.low / scale.by, interval80.high / scale.by}, to),
      scale.prefix, unit);
}

std::string duration80(double nanoseconds, const Interval& interval80) {
  const Scale scale = duration_scale(nanoseconds);
  return fmt::format(
      "{} {}", digits80(nanoseconds / scale.by, {interval80.low / scale.by, interval80.high / scale.by}),
      scale.prefix);
}

std::string plus_minus_duration(double nanoseconds, const std::optional<Interval>& ci95,
                                std::string_view to) {
  return in_digits(nanoseconds, ci95, duration_scale(nanoseconds), "", to);
}

std::string plus_minus_rate(double per_second, const std::optional<Interval>& ci95, std::string_view unit,
                            std::string_view to) {
  return in_digits(per_second, ci95, rate_scale(per_second), unit, to);
}

}  // namespace bench
