// Whether new runs are slower than base runs: an interval for each point's change and for what all points
// share, at one level for the whole suite. Pure arithmetic on logarithms; knows no file and no unit.
//
// Model: y[run][point] = level of the side's point + shift of the run, common to all points + own noise.
//  - Common change: the difference between the sides' mean shifts. A run is one observation of it, so that
//    Student's t over the runs' shifts tests it. A run's shift is a weighted mean over the points: weights in
//    proportion to 1/variance, and zero for points that changed otherwise than the rest.
//  - A point's change: the difference between its sides' means, less as much of the common change as the
//    runs' own scatter explains (all of it where shifts scatter, none where they do not or where the common
//    change is shown to be real). Its variance is moderated over the points (moderated_variance.h).
//  - Paired runs: the same for the differences within pairs, one group instead of two. From seven pairs on,
//  the
//    means are trimmed, so that one disturbed run moves none.
// Level: alpha is divided by Bonferroni. The common change gets alpha/10, or alpha/(points+1) if that is
// more; the points share the rest. Nine tenths of each are spent on the interval's lower end, since a false
// slowdown fails a gate and a false speedup does not. All intervals of a comparison hold together in 1-alpha
// of comparisons.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/stats/estimate.h"
#include "bench/stats/ratio.h"

namespace bench {

// One run of the program: natural logarithms of the points' values (medians; larger is worse), so that a
// difference of one is a factor of e.
struct RunLevels {
  std::vector<double> points;  // log(median_ns), by point; NaN: not measured in this run
  // log of the calibration's time, median over the run's rounds; with several calibrations that did not go
  // through what changed, the mean of their logs. None: not measured.
  std::optional<double> calibration;
};

// Base and next have the same points in the same order.
struct RunsToCompare {
  std::vector<RunLevels> base;
  std::vector<RunLevels> next;
  // base[i] and next[i] were taken one after the other. Sizes are equal then.
  bool paired = false;
  // Earlier runs of this machine, on neither side: they tell noise where a side has one run and the other
  // too, and nothing else. Two at least are needed.
  std::vector<RunLevels> history;
};

struct ComparisonOptions {
  double alpha = 0.01;      // of the suite; several metrics divide theirs
  double threshold = 0.03;  // of the metric: a ratio between 1/(1+threshold) and 1+threshold is "same"
  // Which look at growing data this is, from 1. Look k has the level alpha/(k·(k+1)), so that any number of
  // looks is paid for: 1/2 + 1/6 + 1/12 + … = 1. nullopt: there is one look, with the whole of alpha.
  std::optional<std::int64_t> look{};
};

enum class ComparisonVerdict { slower, faster, same, inconclusive };

enum class InconclusiveReason {
  none,        // the verdict is another one
  noise,       // the interval is too wide
  no_spread,   // one run a side and no history: nothing tells how much runs differ
  no_value,    // the point lacks a value on one side
  calibration  // the common change is sure, but that less the calibration's is not, or is less than half of
               // it
};

struct ChangeEstimate {
  // Next over base; it differs from 1: a sure change, also where it is a small one and the verdict "same".
  // The interval is simultaneous, at the level of the whole suite.
  Ratio ratio{};
  ComparisonVerdict verdict = ComparisonVerdict::inconclusive;
  InconclusiveReason reason = InconclusiveReason::none;
  // The smallest slowdown, 0.05 for a ratio of 1.05, that data as noisy as these show as slower in 90 %.
  std::optional<double> smallest_change;
  // How many more runs a side (more pairs) would settle an inconclusive change, if its noise and ratio stay
  // as they are. None: it is settled, or a thousand would not do.
  std::optional<std::int64_t> further_runs;
};

struct CommonChange : ChangeEstimate {
  // The same less the calibration's change; none without a calibration in every run.
  std::optional<Interval> adjusted;
  std::optional<double> calibration_ratio;  // next over base
};

struct Comparison {
  // By point. Ratio and interval are relative to common_share of what all points share.
  std::vector<ChangeEstimate> points;
  std::optional<CommonChange> common;  // none below four points: then the points' changes are whole ones
  // Share of the common change that was taken out of each point's ratio, 0 to 1.
  double common_share = 0;
  double alpha = 0;  // the level at this look
};

// Throws std::invalid_argument for a side without runs, sizes that differ, an infinite value, alpha outside
// (0, 1), or a threshold that is not positive.
Comparison compare_runs(const RunsToCompare& runs, const ComparisonOptions& options = {});

// The verdict that an interval of a ratio allows: slower where it lies above 1 and not wholly below
// 1+threshold, faster likewise, same where it lies within the threshold on both sides, else inconclusive.
ComparisonVerdict verdict_of(Interval ratio, double threshold);

}  // namespace bench
