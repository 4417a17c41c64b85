#include "bench/compare/metric_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double value_of(const RunPoint& point, Metric metric) {
  switch (metric) {
    case Metric::time:
      return point.median_ns;
    case Metric::stall:
      return point.stall.value_or(kNone);
    case Metric::planned:
      return static_cast<double>(point.planned_bytes);
    case Metric::tracked:
      return static_cast<double>(point.tracked_bytes);
    case Metric::driver:
      return static_cast<double>(point.driver_bytes);
  }
  return kNone;
}

std::size_t runs_of(const MatchedPoint& point, Side side) {
  return static_cast<std::size_t>(
      std::ranges::count_if(point.runs[side], [](const RunPoint* run) { return run != nullptr; }));
}

// Flags under which a time is not that of the point as it should run.
std::map<std::string, BothSides<std::size_t>> conditions_of(const MatchedPoint& point) {
  std::map<std::string, BothSides<std::size_t>> runs_with;
  for (const Side side : kSides) {
    for (const RunPoint* run : point.runs[side]) {
      for (const std::string& flag : run == nullptr ? std::vector<std::string>{} : run->flags) {
        if (flag.starts_with("throttled:") || flag == kAbovePeak) {
          ++runs_with[flag][side];
        }
      }
    }
  }
  return runs_with;
}

}  // namespace

std::string_view name_of(Metric metric) {
  constexpr std::array<std::string_view, kMetrics.size()> kNames{"time", "stall", "planned", "tracked",
                                                                 "driver"};
  return kNames.at(static_cast<std::size_t>(metric));
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts.size()> kNames{"newly failing", "newly out of memory",
                                                                  "missing",       "slower",
                                                                  "hungrier",      "inconclusive",
                                                                  "faster",        "leaner",
                                                                  "new",           "same"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

bool is_regression(Verdict verdict) {
  return verdict < Verdict::inconclusive;
}

double level_of(const RunPoint* point, Metric metric) {
  if (point == nullptr) {
    return kNone;
  }
  if (metric == Metric::time) {
    return point->median_ns > 0 ? std::log(point->median_ns) : kNone;
  }
  return point->stall && *point->stall < 1 ? -std::log1p(-*point->stall) : kNone;
}

double value_of_level(double level, Metric metric) {
  return metric == Metric::time ? std::exp(level) : -std::expm1(-level);
}

std::vector<double> values_of(const MatchedPoint& point, Side side, Metric metric) {
  std::vector<double> values;
  for (const RunPoint* run : point.runs[side]) {
    if (run != nullptr && !std::isnan(value_of(*run, metric))) {
      values.push_back(value_of(*run, metric));
    }
  }
  return values;
}

bool has_metric(const MatchedPoint& point, Metric metric) {
  const auto any = [&](Side side) {
    return std::ranges::any_of(point.runs[side],
                               [&](const RunPoint* run) { return !std::isnan(level_of(run, metric)); });
  };
  return any(Side::base) && any(Side::next);
}

MetricChange compare_bytes(const MatchedPoint& point, Metric metric, double threshold) {
  // Size of pages and of a driver's blocks: a smaller difference is no change.
  constexpr double kDriverBlocks = 4 << 20;
  const std::vector<double> base = values_of(point, Side::base, metric);
  const std::vector<double> next = values_of(point, Side::next, metric);
  const auto [base_least, base_most] = std::ranges::minmax(base);
  const auto [next_least, next_most] = std::ranges::minmax(next);
  const double slack = metric == Metric::driver ? kDriverBlocks : 0;
  const auto exceeds = [&](double value, double limit) {
    return value > limit + std::max(slack, std::abs(limit) * threshold);
  };
  MetricChange change{.metric = metric, .base = median(base), .next = median(next)};
  change.verdict = exceeds(next_least, base_most)   ? Verdict::hungrier
                   : exceeds(base_least, next_most) ? Verdict::leaner
                                                    : Verdict::same;
  return change;
}

std::optional<Side> side_of_one_round(const MatchedPoint& point) {
  for (const Side side : kSides) {
    const bool one_round = std::ranges::any_of(
        point.runs[side], [](const RunPoint* run) { return run != nullptr && run->rounds == 1; });
    if (runs_of(point, side) == 1 && one_round) {
      return side;
    }
  }
  return std::nullopt;
}

std::string incomparable_times(const MatchedPoint& point) {
  const auto side = side_of_one_round(point);
  return side ? fmt::format("{} has one run and one round of it", name_of(*side)) : disturbed_times(point);
}

std::string disturbed_times(const MatchedPoint& point) {
  const BothSides<std::size_t> runs{.base = runs_of(point, Side::base), .next = runs_of(point, Side::next)};
  for (const auto& [flag, with] : conditions_of(point)) {
    if (flag == kAbovePeak) {
      return "it ran above the device's measured peak; measure both sides again on an idle machine";
    }
    const bool passing = flag == kContention || flag == "throttled:cpu_quota";
    for (const Side side : kSides) {
      const Side other = side == Side::base ? Side::next : Side::base;
      const std::size_t enough = passing ? (runs[side] + 1) / 2 : 1;
      if (with[side] >= enough && with[other] == 0) {
        return fmt::format("{} only was throttled ({})", name_of(side),
                           printable(flag.substr(flag.find(':') + 1)));
      }
    }
  }
  return "";
}

}  // namespace bench
