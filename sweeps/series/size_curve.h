// The time of a copy or a collective by its size: straight lines between the measured sizes, from a latency
// at no bytes to a bandwidth beyond the largest size. Pure arithmetic.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/stats/estimate.h"
#include "bench/stats/paired_ratio.h"

namespace bench::sweeps {

// A measured copy or collective.
struct SizePoint {
  std::string name{};
  double bytes = 0;  // of one copy
  double moved = 0;  // of all copies of a step, both ways; of a collective what bandwidth counts
  Estimate ns{};     // median, positive
  RoundTimes rounds{};
  std::string mark{};  // "○" for a flag that separates it from others

  Estimate rate() const { return inverse(ns, moved * 1e9); }  // bytes a second
  double bytes_per_s() const { return rate().value; }
};

// latency + bytes / bandwidth, by least squares with weights 1/t²: errors of a time are in proportion to it,
// so that small copies, which alone show the latency, count as much as large ones.
struct SizeLine {
  Estimate latency_ns;  // may come out negative
  double ns_per_byte = 0;
  // None where the times hardly grow: by less than 1 %, or by less than a quarter and not significantly.
  std::optional<Estimate> bytes_per_s;
  double r_squared = 0;

  double at_ns(double bytes) const { return latency_ns.value + bytes * ns_per_byte; }
};

// nullopt for fewer than two sizes.
std::optional<SizeLine> fit_size_line(std::span<const SizePoint> by_size);

// Whether its interval is no wider than the value itself.
inline bool conclusive(const Estimate& estimate) {
  return estimate.high() - estimate.low() <= estimate.value;
}
// "±3 %": half of the interval's width, of the figure; "±>100 %" of one that has no end below it, "± ?" where
// it is not known.
std::string half_width_in_words(const Estimate& ns);
// "5.1 ± 0.3 µs"; "below 2 µs" of a fitted latency whose interval reaches zero.
std::string latency_in_words(const Estimate& latency);

struct SizeCurve {
  Estimate latency_ns;                  // of no bytes: where the line through the smallest sizes starts
  std::optional<Estimate> bytes_per_s;  // of a copy without end: from the line through the largest sizes

  // From measured size to measured size, below them from the latency, beyond them with the bandwidth.
  struct Piece {
    double to_bytes = 0;  // infinite for the last
    double latency_ns = 0;
    double ns_per_byte = 0;

    double at_ns(double bytes) const { return latency_ns + bytes * ns_per_byte; }
  };
  std::vector<Piece> pieces;

  double at_ns(double bytes) const;
  // Hockney's n½: the smallest size at which a copy moves half of bytes_per_s. None without that rate, or
  // where the smallest size measured is beyond it and no positive latency tells how far.
  std::optional<Estimate> half_bytes() const;
};

// nullopt for fewer than two sizes, sizes that are not positive and growing, or times that grow by less than
// 1 % over all sizes.
std::optional<SizeCurve> fit_size_curve(std::span<const SizePoint> by_size);

// The largest size, within those that both were measured at, at which both take the same time. nullopt where
// one is faster throughout.
std::optional<double> crossing(const SizeCurve& first, const SizeCurve& second);

// The smallest size from which on, here and at each larger size that both were measured at, `first` is faster
// and significantly so, by rounds where both have them; without an interval nothing is known. nullopt where
// it is not so at the largest.
std::optional<double> faster_from(std::span<const SizePoint> first, std::span<const SizePoint> second);

struct HeldOut {
  std::string name;           // of the point
  double error = 0;           // of the curve: |predicted - measured| over measured
  double straight_error = 0;  // of one line through all sizes
};

// Both fitted on every second size, the first among them, and asked for the others, in the order of size;
// empty for fewer than five sizes, and for what fit_size_curve() refuses.
std::vector<HeldOut> held_out_errors(std::span<const SizePoint> by_size);

}  // namespace bench::sweeps
