// How one metric of one point changed from BASE to NEW, and what that is called.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/matching.h"
#include "bench/stats/comparison.h"

namespace bench {

// Time and stall are tested; bytes are compared.
enum class Metric { time, stall, planned, tracked, driver };
constexpr bool is_tested(Metric metric) {
  return metric == Metric::time || metric == Metric::stall;
}
inline constexpr std::array kMetrics{Metric::time, Metric::stall, Metric::planned, Metric::tracked,
                                     Metric::driver};
std::string_view name_of(Metric metric);

// From worst to best.
enum class Verdict { failing, oom, missing, slower, hungrier, inconclusive, faster, leaner, added, same };
inline constexpr std::array kVerdicts{
    Verdict::failing,      Verdict::oom,    Verdict::missing, Verdict::slower, Verdict::hungrier,
    Verdict::inconclusive, Verdict::faster, Verdict::leaner,  Verdict::added,  Verdict::same};
// "newly failing", "newly out of memory", "missing", "slower", …
std::string_view name_of(Verdict verdict);
bool is_regression(Verdict verdict);

// A metric of one point.
struct MetricChange {
  Metric metric = Metric::time;
  Verdict verdict = Verdict::same;
  double base = 0;  // nanoseconds, a share, or bytes; median over the runs
  double next = 0;
  ChangeEstimate estimate{};  // of time and stall
  double shared = 1;          // next over base of all points, which the estimate's ratio leaves out
  std::string reason{};       // of an inconclusive one; a sentence's part
  // Of time and stall, by machine of the suite, next over base; NaN: not compared there. Without what the
  // estimate's ratio leaves out.
  std::vector<double> machines{};
};

// Natural logarithm of the median time, or of 1 / (1 - stall): larger is worse, as compare_runs() expects.
// NaN where the run (nullptr: it lacks the point) has no such value. Metric: time or stall.
double level_of(const RunPoint* point, Metric metric);

// The time or the stall of a level.
double value_of_level(double level, Metric metric);

// Whether both sides have a level.
bool has_metric(const MatchedPoint& point, Metric metric);

// The values of the runs that have one: nanoseconds, a share, or bytes.
std::vector<double> values_of(const MatchedPoint& point, Side side, Metric metric);

// Exact, where every run of a side agrees. Runs that differ among themselves must all lie on one side of the
// other's. `threshold`: share of the bytes.
MetricChange compare_bytes(const MatchedPoint& point, Metric metric, double threshold);

// The side whose only run has one round of the point: how much it differs from other runs is known neither
// from its rounds nor from the machine's history. nullopt: none has.
std::optional<Side> side_of_one_round(const MatchedPoint& point);

// Why the times of the sides are not those of the point as it should run; empty where they are. Other
// programs and quotas come and go: they tell the sides apart only where most runs of one side had them.
std::string disturbed_times(const MatchedPoint& point);

// Why the point's times cannot be compared: they are disturbed, or a side has one round; empty where they
// can.
std::string incomparable_times(const MatchedPoint& point);

}  // namespace bench
