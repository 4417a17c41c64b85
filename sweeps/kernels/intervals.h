// What a sweep over kernels says of a number: its rate in words, and its 95 % interval.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "bench/measure/result.h"
#include "bench/measure/units.h"

namespace bench::sweeps {

inline std::string bytes_rate(double rate) {
  return format_rate(rate, "B/s");
}
inline std::string flops_rate(double rate) {
  return format_rate(rate, "FLOP/s");
}

// A point of one sample has an interval without width: it knows nothing of its spread.
inline std::optional<Interval> known(const Interval& interval) {
  if (interval.low == interval.high) {
    return std::nullopt;
  }
  return Interval{std::min(interval.low, interval.high), std::max(interval.low, interval.high)};
}

// Of what is done in a time with an interval.
inline Interval rates(double amount, const Interval& ns) {
  return {amount / (ns.high * 1e-9), amount / (ns.low * 1e-9)};
}

// Of a ratio, from the ends that make it smallest and largest: at least as wide as 95 % asks for.
inline std::optional<Interval> ratio_of(const Interval& above, const Interval& below) {
  const auto top = known(above);
  const auto bottom = known(below);
  if (!top || !bottom) {
    return std::nullopt;
  }
  return Interval{top->low / bottom->high, top->high / bottom->low};
}

}  // namespace bench::sweeps
