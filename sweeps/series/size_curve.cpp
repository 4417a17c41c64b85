#include "sweeps/series/size_curve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>

#include <fmt/format.h>

#include "bench/stats/fit.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

// A time is settled at ±1 %, see the stop rule.
constexpr double kLeastGrowth = 0.01;
constexpr double kPlainGrowth = 0.25;

// Sizes at either end that the latency and the bandwidth are read from: two more than a line needs, for an
// interval.
constexpr std::size_t kEndSizes = 4;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool can_be_fitted(std::span<const SizePoint> by_size) {
  const auto positive = [](const SizePoint& point) { return point.bytes > 0 && point.ns.value > 0; };
  return by_size.size() >= 2 && std::ranges::all_of(by_size, positive) &&
         std::ranges::adjacent_find(by_size, std::greater_equal{}, &SizePoint::bytes) == by_size.end();
}

SizeCurve::Piece piece_between(double from, double from_ns, double to, double to_ns) {
  const double slope = (to_ns - from_ns) / (to - from);
  return {.to_bytes = to, .latency_ns = from_ns - slope * from, .ns_per_byte = slope};
}

// The smallest size at which a copy moves so many bytes a nanosecond. Within a piece the rate rises
// throughout or falls throughout.
std::optional<double> first_size_of(const SizeCurve& curve, double rate) {
  for (const SizeCurve::Piece& piece : curve.pieces) {
    const double at_end =
        std::isfinite(piece.to_bytes) ? piece.to_bytes / piece.at_ns(piece.to_bytes) : 1 / piece.ns_per_byte;
    if (at_end >= rate) {
      const double bytes = piece.latency_ns * rate / (1 - piece.ns_per_byte * rate);
      return bytes > 0 ? std::optional(bytes) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SizeLine> fit_size_line(std::span<const SizePoint> by_size) {
  std::vector<double> bytes;
  std::vector<double> times;
  std::vector<double> weights;
  for (const SizePoint& point : by_size) {
    bytes.push_back(point.bytes);
    times.push_back(point.ns.value);
    weights.push_back(1 / (point.ns.value * point.ns.value));
  }
  const auto fit = fit_line(bytes, times, weights);
  if (!fit) {
    return std::nullopt;
  }
  SizeLine line{.latency_ns = fit->intercept,
                .ns_per_byte = fit->slope.value,
                .bytes_per_s = std::nullopt,
                .r_squared = fit->r_squared};
  const auto [least, most] = std::ranges::minmax(bytes);
  const double growth = fit->slope.value * (most - least) / std::abs(fit->at(least));
  if (growth >= kLeastGrowth && (growth >= kPlainGrowth || fit->slope.low() > 0)) {
    line.bytes_per_s = inverse(fit->slope, 1e9);
  }
  return line;
}

std::string half_width_in_words(const Estimate& ns) {
  const double half = (ns.high() - ns.low()) / 2 / ns.value;
  return !ns.ci95 ? "± ?" : half > 1 ? "±>100 %" : "±" + format_percent(half);
}

std::string latency_in_words(const Estimate& latency) {
  return latency.ci95 && latency.low() <= 0
             ? fmt::format("below {}", format_duration(std::max(0.0, latency.high())))
             : plus_minus_duration(std::max(0.0, latency.value), latency.ci95);
}

double SizeCurve::at_ns(double bytes) const {
  return std::ranges::lower_bound(pieces, bytes, {}, &Piece::to_bytes)->at_ns(bytes);
}

std::optional<Estimate> SizeCurve::half_bytes() const {
  const auto half_of = [&](double per_s) { return first_size_of(*this, per_s / 2e9); };
  const auto bytes = bytes_per_s ? half_of(bytes_per_s->value) : std::nullopt;
  if (!bytes) {
    return std::nullopt;
  }
  Estimate half{.value = *bytes};
  const auto low = half_of(bytes_per_s->low());
  const auto high = half_of(bytes_per_s->high());
  if (bytes_per_s->ci95 && low && high) {
    half.ci95 = Interval{.low = std::min(*low, *bytes), .high = std::max(*high, *bytes)};
  }
  return half;
}

std::optional<SizeCurve> fit_size_curve(std::span<const SizePoint> by_size) {
  if (!can_be_fitted(by_size) || by_size.back().ns.value < by_size.front().ns.value * (1 + kLeastGrowth)) {
    return std::nullopt;
  }
  const std::size_t end_sizes = std::min(kEndSizes, by_size.size());
  SizeCurve curve;
  curve.latency_ns = fit_size_line(by_size.first(end_sizes))->latency_ns;
  curve.bytes_per_s = fit_size_line(by_size.last(end_sizes))->bytes_per_s;
  double from = 0;
  double from_ns = std::max(0.0, curve.latency_ns.value);
  for (const SizePoint& point : by_size) {
    curve.pieces.push_back(piece_between(from, from_ns, point.bytes, point.ns.value));
    from = point.bytes;
    from_ns = point.ns.value;
  }
  const double slope = curve.bytes_per_s ? 1e9 / curve.bytes_per_s->value : 0;
  curve.pieces.push_back({.to_bytes = kInfinite, .latency_ns = from_ns - slope * from, .ns_per_byte = slope});
  return curve;
}

std::optional<double> crossing(const SizeCurve& first, const SizeCurve& second) {
  const auto measured = [](const SizeCurve& curve) {
    return std::span(curve.pieces).first(curve.pieces.size() - 1);
  };
  const double from = std::max(first.pieces.front().to_bytes, second.pieces.front().to_bytes);
  const double to = std::min(measured(first).back().to_bytes, measured(second).back().to_bytes);
  std::vector<double> sizes;
  for (const SizeCurve* curve : {&first, &second}) {
    for (const SizeCurve::Piece& piece : measured(*curve)) {
      if (from <= piece.to_bytes && piece.to_bytes <= to) {
        sizes.push_back(piece.to_bytes);
      }
    }
  }
  std::ranges::sort(sizes);
  const auto ahead = [&](double bytes) { return first.at_ns(bytes) - second.at_ns(bytes); };
  for (std::size_t i = sizes.size(); i-- > 1;) {
    const double before = ahead(sizes[i - 1]);
    const double after = ahead(sizes[i]);
    if (before * after < 0) {
      return sizes[i - 1] + (sizes[i] - sizes[i - 1]) * before / (before - after);
    }
  }
  return std::nullopt;
}

std::optional<double> faster_from(std::span<const SizePoint> first, std::span<const SizePoint> second) {
  std::optional<double> from;
  for (const SizePoint& one : std::views::reverse(first)) {
    const auto other = std::ranges::find(second, one.bytes, &SizePoint::bytes);
    if (other == second.end()) {
      continue;
    }
    const Estimate times = ratio_by_rounds(one.ns, one.rounds, other->ns, other->rounds);
    if (!times.ci95 || times.high() >= 1) {
      break;
    }
    from = one.bytes;
  }
  return from;
}

std::vector<HeldOut> held_out_errors(std::span<const SizePoint> by_size) {
  constexpr std::size_t kFewest = 5;  // three to fit, which leaves a residual, and two to ask for
  if (by_size.size() < kFewest || !can_be_fitted(by_size)) {
    return {};
  }
  std::vector<SizePoint> used;
  for (std::size_t i = 0; i < by_size.size(); i += 2) {
    used.push_back(by_size[i]);
  }
  const auto line = fit_size_line(used);
  const auto curve = fit_size_curve(used);
  std::vector<HeldOut> errors;
  for (std::size_t i = 1; i < by_size.size() && curve; i += 2) {
    const SizePoint& asked = by_size[i];
    const auto error = [&](double predicted) {
      return std::abs(predicted - asked.ns.value) / asked.ns.value;
    };
    errors.push_back({.name = asked.name,
                      .error = error(curve->at_ns(asked.bytes)),
                      .straight_error = error(line->at_ns(asked.bytes))});
  }
  return errors;
}

}  // namespace bench::sweeps
