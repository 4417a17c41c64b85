// Throughput by batch: the saturation batch, where it stops growing. One rule decides it, of measured and
// predicted batches, and of a loader's workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "bench/stats/estimate.h"

namespace bench {

struct ThroughputPoint {
  std::int64_t batch = 0;
  double per_s = 0;                // from the median step time
  std::optional<Interval> ci95{};  // samples a second; none where it is not known, as after one round

  // A prediction's points share their error, which moves no saturation batch: as if there was none.
  static ThroughputPoint predicted(std::int64_t batch, double per_s) {
    return {.batch = batch, .per_s = per_s, .ci95 = Interval{per_s, per_s}};
  }

  // Where the interval is not known it may lie anywhere.
  double low() const { return ci95 ? ci95->low : 0; }
  double high() const { return ci95 ? ci95->high : std::numeric_limits<double>::infinity(); }
};

// What the batches show of throughput.
enum class SaturationState {
  placed,     // a batch is shown to be best: throughput grows up to it, or falls from the first
  flat,       // none is shown to be slower than the best, and their intervals are narrow
  undecided,  // the intervals are too wide
};
std::string_view name_of(SaturationState state);

struct Saturation {
  SaturationState state = SaturationState::undecided;
  // Of the points as given, the one to use: of a flat curve the smallest; else that of `batch`; where there
  // is none, the smallest whose median reaches 95 % of the best's.
  std::size_t index = 0;
  std::int64_t best_batch = 0;  // of the highest median throughput
  double best_per_s = 0;
  // The smallest batch whose lower bound reaches 95 % of the best's median. None where the points are too
  // uncertain for any to, or their intervals not known.
  std::optional<std::int64_t> batch;
  double per_s = 0;  // throughput at `batch`
  // The range that the intervals allow. Low: the smallest batch whose upper bound reaches 95 % of the best's
  // lower bound. High: the smallest whose lower bound reaches 95 % of the best's upper bound, or the larger
  // of `batch` and best_batch where none does. Low <= batch <= high.
  std::int64_t low = 0;
  std::int64_t high = 0;
  // From `low` to here no batch is surely slower: each upper bound reaches 95 % of the best's lower bound.
  std::int64_t alike_to = 0;
  bool intervals_known = false;  // of all points
  bool at_largest = false;       // `batch` is the largest measured: the saturation may lie beyond
  bool at_smallest = false;      // `batch` is the smallest measured: it may lie below

  // low to high; none where not all points have an interval.
  std::optional<Interval> range() const {
    return intervals_known ? std::optional(Interval{static_cast<double>(low), static_cast<double>(high)})
                           : std::nullopt;
  }
};

inline constexpr double kSaturatedShare = 0.95;
// Half of the typical interval over its value. A flat curve's intervals are narrower, so that no difference
// beyond them is hidden; where throughput surely grows, twice as wide ones still show up to where.
inline constexpr double kFlatWidth = 0.1;
inline constexpr double kGrowingWidth = 0.2;

// Points in any order. nullopt for fewer than two batches: one has nothing to be compared with.
std::optional<Saturation> find_saturation(std::span<const ThroughputPoint> points);

}  // namespace bench
