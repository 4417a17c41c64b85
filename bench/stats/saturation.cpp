#include "bench/stats/saturation.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "bench/stats/statistics.h"

namespace bench {
namespace {

double half_width(const ThroughputPoint& point) {
  return std::max(point.high() - point.per_s, point.per_s - point.low()) / point.per_s;
}

// Of the points that may all be as fast as the best. Widths count by their median: a single one is noise.
SaturationState state_of(std::span<const ThroughputPoint> alike, bool grows, bool is_placed) {
  constexpr double kFarBelow = 0.75;
  std::vector<double> rates;
  std::vector<double> widths;
  for (const ThroughputPoint& point : alike) {
    rates.push_back(point.per_s);
    widths.push_back(half_width(point));
  }
  if (alike.size() == 1 || (grows && (is_placed || median(widths) <= kGrowingWidth))) {
    return SaturationState::placed;
  }
  // The first, which is to be used, must not be slow by the rest of its interval.
  const bool is_flat =
      !grows && median(widths) <= kFlatWidth && alike.front().low() >= kFarBelow * median(rates);
  return is_flat ? SaturationState::flat : SaturationState::undecided;
}

}  // namespace

std::string_view name_of(SaturationState state) {
  return state == SaturationState::placed ? "placed" : state == SaturationState::flat ? "flat" : "undecided";
}

std::optional<Saturation> find_saturation(std::span<const ThroughputPoint> points) {
  std::vector<ThroughputPoint> ascending(points.begin(), points.end());
  std::ranges::stable_sort(ascending, {}, &ThroughputPoint::batch);
  if (ascending.empty() || ascending.front().batch == ascending.back().batch) {
    return std::nullopt;
  }
  const ThroughputPoint& best = *std::ranges::max_element(ascending, {}, &ThroughputPoint::per_s);

  Saturation saturation;
  saturation.best_batch = best.batch;
  saturation.best_per_s = best.per_s;
  saturation.intervals_known =
      std::ranges::all_of(ascending, [](const ThroughputPoint& p) { return p.ci95.has_value(); });
  const double enough = kSaturatedShare * best.per_s;
  const auto certain =
      std::ranges::find_if(ascending, [&](const ThroughputPoint& p) { return p.low() >= enough; });
  const auto likely =
      std::ranges::find_if(ascending, [&](const ThroughputPoint& p) { return p.per_s >= enough; });
  if (certain != ascending.end()) {
    saturation.batch = certain->batch;
    saturation.per_s = certain->per_s;
    saturation.at_largest = certain->batch == ascending.back().batch;
    saturation.at_smallest = certain->batch == ascending.front().batch;
  }
  // The best itself always reaches its own lower bound.
  const auto may_be_best = [&](const ThroughputPoint& p) { return p.high() >= kSaturatedShare * best.low(); };
  const auto first = std::ranges::find_if(ascending, may_be_best);
  const auto slower = std::find_if_not(first, ascending.end(), may_be_best);
  saturation.low = first->batch;
  saturation.alike_to = std::prev(slower)->batch;
  const auto surest = std::ranges::find_if(
      ascending, [&](const ThroughputPoint& p) { return p.low() >= kSaturatedShare * best.high(); });
  saturation.high =
      surest != ascending.end() ? surest->batch : std::max(saturation.batch.value_or(0), best.batch);

  saturation.state = state_of({first, slower}, first != ascending.begin(), saturation.batch.has_value());
  const ThroughputPoint& used = saturation.state == SaturationState::flat ? *first
                                : certain != ascending.end()              ? *certain
                                : likely != ascending.end()               ? *likely
                                                                          : best;
  saturation.index = static_cast<std::size_t>(std::ranges::find(points, used.batch, &ThroughputPoint::batch) -
                                              points.begin());
  return saturation;
}

}  // namespace bench
