#include "sweeps/transfer/curve.h"

#include <cmath>
#include <limits>

#include "bench/measure/segments.h"

namespace bench::sweeps {
namespace {

// A time is settled at ±1 %, see the stop rule: what lines differ by below that is no bend.
constexpr SegmentRule kRule{.most = 3, .fewest = 3, .resolution = 0.01};

// Between the last size of one line and the first of the next.
double bend_between(double last, double first, const TransferModel& before, const TransferModel& after) {
  const auto meet = crossing(before, after);
  return meet && *meet >= last && *meet <= first ? *meet : std::sqrt(last * first);
}

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
  TransferCurve curve;
  const std::vector<Segment> segments = fit_segments(all.bytes, all.times, all.weights, kRule);
  for (const Segment& segment : segments) {
    const auto line = transfer_model(segment.line);
    if (!line) {
      curve.pieces.clear();
      break;
    }
    if (!curve.pieces.empty()) {
      TransferPiece& before = curve.pieces.back();
      before.to_bytes =
          bend_between(all.bytes[segment.first - 1], all.bytes[segment.first], before.line, *line);
    }
    curve.pieces.push_back({.to_bytes = std::numeric_limits<double>::infinity(), .line = *line});
  }
  if (curve.pieces.empty()) {  // too few sizes for the rule
    const auto line = fit_transfer(by_size);
    if (!line) {
      return std::nullopt;
    }
    curve.pieces.push_back({.to_bytes = std::numeric_limits<double>::infinity(), .line = *line});
  }
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
