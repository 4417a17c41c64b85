// The time of a copy by its size where one straight line does not serve: a line that bends, each piece
// latency + bytes / bandwidth over a range of sizes. Copies bend where whoever does them changes the method
// (another core joins, a driver stages) or the memory they meet changes (page, cache). Pure arithmetic.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sweeps/transfer/model.h"

namespace bench::sweeps {

struct TransferPiece {
  double from_bytes = 0;  // the first begins at the smallest size
  double to_bytes = 0;    // where the next begins; infinite for the last
  std::size_t points = 0;
  Estimate latency_ns;   // where it would meet a copy of nothing: a latency of the first piece only
  Estimate ns_per_byte;  // not negative
  bool grows = true;     // beyond what its times tell from nothing

  double at_ns(double bytes) const { return latency_ns.value + bytes * ns_per_byte.value; }
  // None where it does not grow.
  std::optional<Estimate> bytes_per_s() const;
};

struct TransferCurve {
  std::vector<TransferPiece> pieces;  // at least one, by size

  bool bends() const { return pieces.size() > 1; }
  double at_ns(double bytes) const;
  const Estimate& latency_ns() const { return pieces.front().latency_ns; }
  // Of a copy without end: the last piece's.
  std::optional<Estimate> bytes_per_s() const { return pieces.back().bytes_per_s(); }
  // The smallest size at which a copy moves half of that, by the piece it lies in. None without that rate, or
  // where the smallest size measured is beyond it already and the first piece has no positive latency that
  // would tell how far. Has an interval where there is one piece, as in TransferModel; where a curve bends,
  // its pieces' ends say too little of a point on it.
  std::optional<Estimate> half_bytes() const;
};

// With as many bends, up to two, as the times, growing by size, are told to need by fit_broken_line().
// nullopt for fewer than two sizes, one size twice, or times that do not grow by 1 % over all sizes.
std::optional<TransferCurve> fit_curve(std::span<const CopyTime> by_size);

// The largest size at which both curves take the same time, one being faster from there on. nullopt where one
// is faster at every size.
std::optional<double> crossing(const TransferCurve& first, const TransferCurve& second);

struct HeldOut {
  double bytes = 0;
  double error = 0;           // of the curve: |predicted - measured| over measured
  double straight_error = 0;  // of one straight line
};

// Both fitted on every second size, the first among them, and asked for the others, in the order of size;
// empty for fewer than five sizes, and for what fit_curve() refuses. Where the curve bends is found on the
// sizes fitted too.
std::vector<HeldOut> held_out_errors(std::span<const CopyTime> by_size);

}  // namespace bench::sweeps
