// The time of a copy by its size, t = latency + bytes / bandwidth, and what follows from it. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/measure/fit.h"

namespace bench::sweeps {

struct CopyTime {
  double bytes = 0;
  double ns = 0;  // median, positive
  Interval ci95_ns{};
};

struct TransferModel {
  Estimate latency_ns;   // of a copy of nothing, extrapolated; may come out negative
  Estimate bytes_per_s;  // of a copy without end
  // Where a copy moves half of bytes_per_s: latency · bandwidth (Hockney's n½). None where the latency is not
  // positive. Its interval takes both of the others at their ends, so it is wide rather than narrow.
  std::optional<Estimate> half_bytes;
  double r_squared = 0;
  std::size_t points = 0;

  double at_ns(double bytes) const { return latency_ns.value + bytes / bytes_per_s.value * 1e9; }
};

// A time is settled at ±1 %, see the stop rule: what grows by less over all its sizes has no bandwidth.
inline constexpr double kLeastGrowth = 0.01;

// Bytes a second of a slope, which is positive; no interval where the slope's reaches down to zero.
Estimate rate_of(const Estimate& ns_per_byte);
// TransferModel::half_bytes of a line.
std::optional<Estimate> half_rate_bytes(const Estimate& latency_ns, const Estimate& bytes_per_s);

// What a fit takes. Weights 1/t²: errors of a time are in proportion to it, so that small copies, which alone
// show the latency, count as much as large ones.
struct WeightedTimes {
  explicit WeightedTimes(std::span<const CopyTime> points);
  std::vector<double> bytes;
  std::vector<double> times;
  std::vector<double> weights;
};

// nullopt for fewer than two sizes, or times that do not grow by 1 % over all sizes.
std::optional<TransferModel> fit_transfer(std::span<const CopyTime> points);

// The middle of them; the mean of the two middle ones. nullopt for none.
std::optional<double> median_of(std::vector<double> values);

// An interval that holds the median of where the values come from at least 19 times in 20, whatever their
// distribution: two of the values themselves, by the binomial distribution of how many lie below it (Conover
// 1999, section 3.2). nullopt for fewer than six, whose smallest and largest do not reach that.
std::optional<Interval> median_interval(std::vector<double> values);

// The smallest size from which on, here and at each larger size that both were measured at, `first` is faster
// with intervals that do not touch. nullopt where it is not so at the largest.
std::optional<double> faster_from(std::span<const CopyTime> first, std::span<const CopyTime> second);

}  // namespace bench::sweeps
