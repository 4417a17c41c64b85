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
  double to_bytes = 0;  // where it ends and the next begins; infinite for the last
  TransferModel line;
};

struct TransferCurve {
  std::vector<TransferPiece> pieces;  // at least one, by size

  double at_ns(double bytes) const;
};

// With as many bends, up to two, as the times, growing by size, are told to need by fit_broken_line().
// nullopt for fewer than two sizes or times that do not grow.
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
