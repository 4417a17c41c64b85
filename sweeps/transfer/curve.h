// The time of a copy by its size where one straight line does not serve: lines one after another, each
// latency + bytes / bandwidth over a range of sizes. Copies bend where whoever does them changes the method
// (another core joins, a driver stages) or the memory they meet changes (page, cache). Pure arithmetic.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sweeps/transfer/model.h"

namespace bench::sweeps {

struct TransferPiece {
  double to_bytes = 0;  // where it ends and the next begins; infinite for the last
  TransferModel line;
};

struct TransferCurve {
  std::vector<TransferPiece> pieces;  // at least one, by size

  double at_ns(double bytes) const;
};

// As many lines, up to three of at least three sizes each, as the times, growing by size, are told to need by
// fit_segments(). A piece ends where its line meets the next, or halfway (by ratio) to the next measured size
// where they do not meet in between. nullopt for fewer than two sizes or times that do not grow.
std::optional<TransferCurve> fit_curve(std::span<const CopyTime> by_size);

struct HeldOut {
  double bytes = 0;
  double error = 0;           // of the curve: |predicted - measured| over measured
  double straight_error = 0;  // of one straight line
};

// Both fitted on every second size, the first among them, and asked for the others, in the order of size;
// empty for fewer than five sizes. Where the curve bends is found on the sizes fitted too.
std::vector<HeldOut> held_out_errors(std::span<const CopyTime> by_size);

}  // namespace bench::sweeps
