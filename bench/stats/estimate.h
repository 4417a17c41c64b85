// A number with its interval: of 95 % where it was measured, of 80 % where it is predicted. statistics.h
// makes those of measured times.
#pragma once

#include <optional>
#include <span>

namespace bench {

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

struct Estimate {
  double value = 0;
  std::optional<Interval> ci95{};  // none where too few measurements were made to tell

  double low() const { return ci95 ? ci95->low : value; }
  double high() const { return ci95 ? ci95->high : value; }
};

// estimate · factor, which is positive.
Estimate scaled(const Estimate& estimate, double factor);

// scale / estimate, as bytes a second from nanoseconds a byte. No interval where the given one reaches zero.
Estimate inverse(const Estimate& estimate, double scale = 1);

// above / below, from the ends that make it smallest and largest: at least as wide as a 95 % interval. No
// interval unless both have one and below's is positive.
Estimate ratio(const Estimate& above, const Estimate& below);

// By Student's t; no interval where no degree of freedom is left.
Estimate student_estimate(double value, double standard_error, double freedom);

// The mean, with Student's interval; one value has no interval. Throws std::invalid_argument for none.
Estimate mean_estimate(std::span<const double> values);

}  // namespace bench
