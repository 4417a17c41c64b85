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

double round_to(double value, int last) {
  const double step = std::pow(10, last);
  return std::round(value / step) * step + 0.0;  // never "-0"
}

// To the digit `last`; further only where a number would lose its first.
std::string rounded(double value, int last) {
  if (value == 0) {
    return "0";
  }
  const int digit = std::min(last, last_digit_of(value));
  return fmt::format("{:.{}f}", round_to(value, digit), std::max(-digit, 0));
}

// Of a value before its ends: rounding moves it and them by a seventh of the wider side at most. A value has
// two digits at least and four at most; one more where it would coincide with an end.
int last_digit_with_ends(double value, const Interval& ends) {
  constexpr double kTwoDigits = 3.5;
  const int finest = exponent_of(value) + 1 - kMostDigits;
  const double half = std::max(value - ends.low, ends.high - value);
  int last = exponent_of(half) - (half < kTwoDigits * std::pow(10, exponent_of(half)) ? 1 : 0);
  if (ends.low >= 0) {
    last = std::min(last, exponent_of(value) - 1);
  }
  last = std::max(last, finest);
  const std::string shown = rounded(value, last);
  const bool coincides = shown == rounded(ends.low, last) || shown == rounded(ends.high, last);
  return coincides && last > finest ? last - 1 : last;
}

// "28 (8 to 57)", "28 (8–57)".
std::string with_ends(double value, const Interval& ends, std::string_view to) {
  const int last = last_digit_with_ends(value, ends);
  return fmt::format("{} ({}{}{})", rounded(value, last), rounded(ends.low, last), ends.low < 0 ? kTo : to,
                     rounded(ends.high, last));
}

// "33.1 ± 1.9": the value and its half width to the digit `last`. A rounded half width is never 0: it is not
// known to be.
struct Symmetric {
  double value;
  double half;
  int last;
};

// One digit of the half width, or else two; none where the ends have to be given: where the half widths of
// both sides do not agree in these digits, or rounding moves the value or an end by more than a little.
std::optional<Symmetric> symmetric(double value, const Interval& ends) {
  const double below = value - ends.low;
  const double above = ends.high - value;
  const double half = std::max(below, above);
  const int finest = std::min(exponent_of(value) + 1 - kMostDigits, 0);
  const int two = std::max(exponent_of(half) - 1, finest);
  const int one = half < 10 ? std::max(last_digit_of(half), finest) : two;
  const auto near = [&](double shown, double actual) { return std::abs(shown - actual) <= half / 6; };
  for (const int last : {one, two}) {
    const Symmetric shown{.value = round_to(value, last),
                          .half = std::max(round_to(half, last), std::pow(10, last)),
                          .last = last};
    const bool right =
        last == finest || (near(shown.value, value) && near(shown.value - shown.half, ends.low) &&
                           near(shown.value + shown.half, ends.high));
    const bool reaches_zero = ends.low > 0 && shown.half >= shown.value;
    if (round_to(below, last) == round_to(above, last) && right && !reaches_zero) {
      return shown;
    }
  }
  return {};
}

std::string in_digits(double value, const std::optional<Interval>& ci95, const Scale& scale,
                      std::string_view unit, std::string_view to) {
  const std::string suffix =
      scale.prefix.empty() && unit.empty() ? "" : fmt::format(" {}{}", scale.prefix, unit);
  const double shown = value / scale.by;
  if (!ci95) {
    return format_number(shown) + suffix;
  }
  const Interval ends{ci95->low / scale.by, ci95->high / scale.by};
  const double half = std::max(shown - ends.low, ends.high - shown);
  if (!(half > 0) || !std::isfinite(half)) {
    return format_number(shown) + suffix;
  }
  if (const std::optional<Symmetric> both = symmetric(shown, ends)) {
    const int decimals = std::max(-both->last, 0);
    return fmt::format("{:.{}f} ± {:.{}f}{}", both->value, decimals, both->half, decimals, suffix);
  }
  return with_ends(shown, ends, to) + suffix;
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

}  // namespace

std::string digits80(double value, const Interval& interval80) {
  if (!is_known80(interval80)) {
    return format_number(value);
  }
  constexpr int kMostDigitsAlone = 3;
  return rounded(
      value, std::max(last_digit_with_ends(value, interval80), exponent_of(value) + 1 - kMostDigitsAlone));
}

std::string with_interval80(double value, const Interval& interval80, std::string_view to) {
  return is_known80(interval80) ? with_ends(value, interval80, to) : format_number(value);
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

std::string in_words(const Ratio& ratio) {
  return ratio.is_predicted() && ratio.interval ? with_interval80(ratio.value, *ratio.interval)
                                                : plus_minus(ratio.value, ratio.interval);
}

}  // namespace bench
