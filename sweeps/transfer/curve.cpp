#include "sweeps/transfer/curve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bench/measure/broken_line.h"

namespace bench::sweeps {
namespace {

// What lines differ by below that is no bend.
constexpr BrokenLineRule kRule{.most_bends = 2, .resolution = kLeastGrowth};

// A piece over which times grow by less than this, and whose slope the scatter does not tell from none, is
// taken for flat. One that grows by more is not, though few sizes may leave its slope without an interval.
constexpr double kMayBeFlat = 0.25;

bool grows(const LinePiece& piece) {
  const double start = piece.intercept.value + piece.slope.value * piece.from;
  const double growth = piece.slope.value * (piece.to - piece.from) / start;
  const bool told = !piece.slope.ci95 || piece.slope.ci95->low > 0;
  return growth >= kLeastGrowth && (told || growth >= kMayBeFlat);
}

bool can_be_fitted(std::span<const CopyTime> by_size) {
  return std::ranges::all_of(by_size,
                             [](const CopyTime& point) { return point.bytes > 0 && point.ns > 0; }) &&
         std::ranges::adjacent_find(by_size, std::greater_equal{}, &CopyTime::bytes) == by_size.end();
}

// Bytes a nanosecond, of copies of this size by this piece.
double rate_at(const TransferPiece& piece, double bytes) {
  return std::isfinite(bytes) ? bytes / piece.at_ns(bytes) : 1 / piece.ns_per_byte.value;
}

}  // namespace

std::optional<Estimate> TransferPiece::bytes_per_s() const {
  if (!grows) {
    return std::nullopt;
  }
  return rate_of(ns_per_byte);
}

double TransferCurve::at_ns(double bytes) const {
  for (const TransferPiece& piece : pieces) {
    if (bytes <= piece.to_bytes) {
      return piece.at_ns(bytes);
    }
  }
  return pieces.back().at_ns(bytes);
}

std::optional<Estimate> TransferCurve::half_bytes() const {
  const auto rate = bytes_per_s();
  if (!rate) {
    return std::nullopt;
  }
  if (!bends()) {
    return half_rate_bytes(latency_ns(), *rate);
  }
  const double half = rate->value / 2 * 1e-9;  // bytes a nanosecond
  const TransferPiece& first = pieces.front();
  if (first.latency_ns.value <= 0 && rate_at(first, first.from_bytes) >= half) {
    return std::nullopt;
  }
  for (const TransferPiece& piece : pieces) {
    // Within a piece the rate rises throughout or falls throughout.
    if (rate_at(piece, piece.to_bytes) >= half) {
      const double bytes = piece.latency_ns.value * half / (1 - piece.ns_per_byte.value * half);
      return Estimate{.value = bytes, .ci95 = std::nullopt};
    }
  }
  return std::nullopt;
}

std::optional<TransferCurve> fit_curve(std::span<const CopyTime> by_size) {
  if (!can_be_fitted(by_size)) {
    return std::nullopt;
  }
  const WeightedTimes all(by_size);
  const auto broken = fit_broken_line(all.bytes, all.times, all.weights, kRule);
  if (!broken) {
    return std::nullopt;
  }
  TransferCurve curve;
  for (const LinePiece& piece : broken->pieces) {
    curve.pieces.push_back({.from_bytes = piece.from,
                            .to_bytes = piece.to,
                            .points = piece.points,
                            .latency_ns = piece.intercept,
                            .ns_per_byte = piece.slope,
                            .grows = grows(piece)});
  }
  const double least = curve.at_ns(by_size.front().bytes);
  if (curve.at_ns(by_size.back().bytes) < least * (1 + kLeastGrowth)) {
    return std::nullopt;
  }
  curve.pieces.back().to_bytes = std::numeric_limits<double>::infinity();
  return curve;
}

std::optional<double> crossing(const TransferCurve& first, const TransferCurve& second) {
  std::optional<double> last;
  for (const TransferPiece& one : first.pieces) {
    for (const TransferPiece& other : second.pieces) {
      // The first pieces hold down to a copy of nothing.
      const double from = std::max(&one == first.pieces.data() ? 0 : one.from_bytes,
                                   &other == second.pieces.data() ? 0 : other.from_bytes);
      const double to = std::min(one.to_bytes, other.to_bytes);
      const double bytes =
          (other.latency_ns.value - one.latency_ns.value) / (one.ns_per_byte.value - other.ns_per_byte.value);
      if (std::isfinite(bytes) && from < bytes && bytes <= to) {
        last = std::max(bytes, last.value_or(0));
      }
    }
  }
  return last;
}

std::vector<HeldOut> held_out_errors(std::span<const CopyTime> by_size) {
  constexpr std::size_t kFewest = 5;  // three to fit, which leaves a residual, and two to ask for
  std::vector<HeldOut> errors;
  if (by_size.size() < kFewest || !can_be_fitted(by_size)) {
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
