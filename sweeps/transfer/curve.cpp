#include "sweeps/transfer/curve.h"

#include <cmath>
#include <limits>

#include "bench/measure/broken_line.h"

namespace bench::sweeps {
namespace {

// A time is settled at ±1 %, see the stop rule: what lines differ by below that is no bend.
constexpr BrokenLineRule kRule{.most_bends = 2, .resolution = 0.01};

}  // namespace

double TransferCurve::at_ns(double bytes) const {
  for (const TransferPiece& piece : pieces) {
    if (bytes <= piece.to_bytes) {
      return piece.line.at_ns(bytes);
    }
  }
  return pieces.back().line.at_ns(bytes);
}

std::optional<TransferCurve> fit_curve(std::span<const CopyTime> by_size) {
  const WeightedTimes all(by_size);
  const auto broken = fit_broken_line(all.bytes, all.times, all.weights, kRule);
  if (!broken) {
    return std::nullopt;
  }
  TransferCurve curve;
  for (const LinePiece& piece : broken->pieces) {
    curve.pieces.push_back(
        {.to_bytes = piece.to, .line = transfer_model(piece.intercept, piece.slope, piece.points)});
  }
  curve.pieces.back().to_bytes = std::numeric_limits<double>::infinity();
  return curve;
}

std::vector<HeldOut> held_out_errors(std::span<const CopyTime> by_size) {
  constexpr std::size_t kFewest = 5;  // three to fit, which leaves a residual, and two to ask for
  std::vector<HeldOut> errors;
  if (by_size.size() < kFewest) {
    return errors;
  }
  std::vector<CopyTime> used;
  for (std::size_t i = 0; i < by_size.size(); i += 2) {
    used.push_back(by_size[i]);
  }
  const auto line = fit_transfer(used);
  const auto curve = fit_curve(used);
  if (!line || !curve) {
    return errors;
  }
  for (std::size_t i = 1; i < by_size.size(); i += 2) {
    const CopyTime& asked = by_size[i];
    const auto error = [&](double predicted) { return std::abs(predicted - asked.ns) / asked.ns; };
    errors.push_back({.bytes = asked.bytes,
                      .error = error(curve->at_ns(asked.bytes)),
                      .straight_error = error(line->at_ns(asked.bytes))});
  }
  return errors;
}

}  // namespace bench::sweeps
