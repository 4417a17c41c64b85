#include "bench/compare/judgement.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bench/compare/machines.h"
#include "bench/result/fleet.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

std::vector<RunLevels> levels_of(const Suite& suite, Side side, Metric metric,
                                 const std::vector<std::size_t>& points, const std::string& calibration) {
  std::vector<RunLevels> runs(suite.runs[side].size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const std::size_t i : points) {
      runs[run].points.push_back(level_of(suite.points[i].runs[side][run], metric));
    }
    const auto& calibrations = suite.runs[side][run]->calibrations;
    if (const auto found = calibrations.find(calibration); found != calibrations.end()) {
      runs[run].calibration = found->second;
    }
  }
  return runs;
}

// The device's own calibration, where what it passes through is the same on both sides; else the host's.
// Empty where not every run has it.
std::string calibration_for(const Suite& suite) {
  const auto everywhere = [&](const std::string& name) {
    return std::ranges::all_of(kSides, [&](Side side) {
      return std::ranges::all_of(suite.runs[side],
                                 [&](const ComparedRun* run) { return run->calibrations.contains(name); });
    });
  };
  for (const std::string_view name : {kDeviceCalibration, kHostCalibration}) {
    if (everywhere(std::string(name)) && (name == kHostCalibration || same_driver(suite))) {
      return std::string(name);
    }
  }
  return "";
}

Verdict verdict_from(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::slower:
      return Verdict::slower;
    case ComparisonVerdict::faster:
      return Verdict::faster;
    case ComparisonVerdict::same:
      return Verdict::same;
    case ComparisonVerdict::inconclusive:
      break;
  }
  return Verdict::inconclusive;
}

Verdict verdict_from(UnmatchedPoint::Kind kind) {
  switch (kind) {
    case UnmatchedPoint::Kind::missing:
      return Verdict::missing;
    case UnmatchedPoint::Kind::left_out:
      return Verdict::inconclusive;
    case UnmatchedPoint::Kind::failing:
      return Verdict::failing;
    case UnmatchedPoint::Kind::oom:
      return Verdict::oom;
    case UnmatchedPoint::Kind::added:
      break;
  }
  return Verdict::added;
}

std::string reason_of(InconclusiveReason reason, const std::string& calibration,
                      bool one_run_a_side = false) {
  switch (reason) {
    case InconclusiveReason::none:
      return "";
    case InconclusiveReason::noise:
      return "the interval is too wide";
    case InconclusiveReason::no_spread:
      return one_run_a_side ? "one run a side, and the machine's history knows too few runs of it"
                            : "too few runs measured it";
    case InconclusiveReason::no_value:
      return "one side has no time above the clock's resolution";
    case InconclusiveReason::calibration:
      return fmt::format("it may be the machine's: the {}'s calibration does not rule that out", calibration);
  }
  return "";
}

// The sides' medians, which prove nothing.
MetricChange incomparable_change(const MatchedPoint& point, Metric metric, const std::string& why) {
  MetricChange change{.metric = metric,
                      .verdict = Verdict::inconclusive,
                      .base = median(values_of(point, Side::base, metric)),
                      .next = median(values_of(point, Side::next, metric)),
                      .reason = why};
  change.estimate.ratio.value = change.base > 0 ? change.next / change.base : 1;
  return change;
}

class Judge {
 public:
  Judge(const Matching& matching, const CompareSettings& settings, const std::vector<PastRun>& history)
      : matching_(matching), history_(history) {
    judgement_.settings = settings;
    judgement_.notes = matching.notes;
    judgement_.differences = differences_of(matching);
    for (const Side side : kSides) {
      for (const ComparedRun& run : matching.runs[side]) {
        judgement_.files[side].push_back(run.path);
      }
    }
    for (const Suite& suite : matching.suites) {
      for (const MatchedPoint& point : suite.points) {
        times_ += has_metric(point, Metric::time) ? 1 : 0;
        times_of_one_round_ += has_metric(point, Metric::time) && side_of_one_round(point) ? 1 : 0;
        for (const Metric metric : {Metric::time, Metric::stall}) {
          tests_ += has_metric(point, metric) && incomparable_times(suite, point).empty() ? 1 : 0;
        }
      }
    }
  }

  Judgement judge() {
    for (const Suite& suite : matching_.suites) {
      add(suite);
    }
    note_mixed_sessions();
    conclude();
    return std::move(judgement_);
  }

 private:
  void add(const Suite& suite) {
    const std::size_t index = judgement_.suites.size();
    const std::size_t first = judgement_.points.size();
    judgement_.suites.push_back({.name = printable(fmt::format("{} of {}", suite.sweep, suite.workload)),
                                 .device = printable(suite.device),
                                 .runs = {suite.runs.base.size(), suite.runs.next.size()}});
    for (const MatchedPoint& point : suite.points) {
      const auto run =
          std::ranges::find_if(point.runs.base, [](const RunPoint* one) { return one != nullptr; });
      judgement_.points.push_back(
          {.name = point.name, .suite = index, .items_per_step = (*run)->items_per_step});
    }
    for (const Metric metric : {Metric::time, Metric::stall}) {
      test(suite, metric, index, first);
    }
    for (std::size_t i = 0; i < suite.points.size(); ++i) {
      for (const Metric metric : {Metric::planned, Metric::tracked, Metric::driver}) {
        judgement_.points[first + i].changes.push_back(
            compare_bytes(suite, suite.points[i], metric, judgement_.settings.thresholds.at(metric)));
      }
    }
    std::unordered_map<std::string_view, std::size_t> measured;
    for (std::size_t i = 0; i < (suite.unmatched.empty() ? 0 : suite.points.size()); ++i) {
      measured[suite.points[i].name] = first + i;
    }
    for (const UnmatchedPoint& point : suite.unmatched) {
      const auto found = measured.find(point.name);
      if (found == measured.end()) {
        judgement_.points.push_back({.name = point.name, .suite = index});
      }
      JudgedPoint& judged =
          found == measured.end() ? judgement_.points.back() : judgement_.points[found->second];
      judged.verdict = verdict_from(point.kind);
      judged.reason = printable(point.reason, kLongestReason);
    }
  }

  // One comparison of all points that have the metric and can be compared; the others tell nothing of what
  // all share either.
  void test(const Suite& suite, Metric metric, std::size_t index, std::size_t first) {
    std::vector<std::size_t> points;
    for (std::size_t i = 0; i < suite.points.size(); ++i) {
      const MatchedPoint& point = suite.points[i];
      const bool known = has_metric(point, metric);
      const std::string why =
          known ? incomparable_times(suite, point) : reason_of(InconclusiveReason::no_value, "");
      if (why.empty()) {
        points.push_back(i);
      } else if (known) {
        judgement_.points[first + i].changes.push_back(incomparable_change(point, metric, why));
      } else if (metric == Metric::time) {
        judgement_.points[first + i].changes.push_back(
            {.metric = metric, .verdict = Verdict::inconclusive, .reason = why});
      }
    }
    if (points.empty()) {
      return;
    }
    const CompareSettings& settings = judgement_.settings;
    const std::string calibration = metric == Metric::time ? calibration_for(suite) : "";
    const RunsToCompare runs =
        suite.machines.empty()
            ? RunsToCompare{.base = levels_of(suite, Side::base, metric, points, calibration),
                            .next = levels_of(suite, Side::next, metric, points, calibration),
                            .paired = settings.paired,
                            .history = history_of(suite, metric, points)}
            : paired_by_machine(suite, metric, points, calibration);
    const bool one_run = suite.runs.base.size() == 1 && suite.runs.next.size() == 1;
    const double share = static_cast<double>(points.size()) / static_cast<double>(tests_);
    const Comparison comparison = compare_runs(runs, {.alpha = settings.alpha * share,
                                                      .threshold = settings.thresholds.at(metric),
                                                      .look = settings.look});
    std::vector<std::vector<double>> changes;  // by point and machine
    const double taken_out =
        comparison.common ? comparison.common_share * std::log(comparison.common->ratio.value) : 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const MatchedPoint& point = suite.points[points[i]];
      MetricChange change{.metric = metric,
                          .verdict = verdict_from(comparison.points[i].verdict),
                          .base = median(values_of(point, Side::base, metric)),
                          .next = median(values_of(point, Side::next, metric)),
                          .estimate = comparison.points[i],
                          .shared = std::exp(taken_out),
                          .reason = reason_of(comparison.points[i].reason, calibration, one_run)};
      if (!suite.machines.empty()) {
        const MachineChanges of_machines = changes_by_machine(suite, point, metric);
        change.base = of_machines.base;
        change.next = of_machines.next;
        for (const double of_machine : of_machines.change) {
          change.machines.push_back(std::exp(of_machine - taken_out));
        }
        changes.push_back(of_machines.change);
      }
      judgement_.points[first + points[i]].changes.push_back(std::move(change));
    }
    if (metric == Metric::time) {
      JudgedSuite& judged = judgement_.suites[index];
      judged.common = comparison.common;
      judged.common_share = comparison.common_share;
      judged.calibration = calibration;
      if (comparison.common) {
        judged.common_verdict = verdict_from(comparison.common->verdict);
        judged.common_reason = reason_of(comparison.common->reason, calibration, one_run);
      }
      if (!suite.machines.empty()) {
        judge_machines(suite, changes, points, judged);
      }
    }
  }

  // `changes`: of `points`, by point and machine.
  void judge_machines(const Suite& suite, const std::vector<std::vector<double>>& changes,
                      const std::vector<std::size_t>& points, JudgedSuite& judged) {
    const std::vector<double> distances = shared_distances(changes);
    std::vector<double> medians;
    for (const std::vector<double>& of_point : changes) {
      std::vector<double> known;
      std::ranges::copy_if(of_point, std::back_inserter(known),
                           [](double change) { return !std::isnan(change); });
      medians.push_back(known.empty() ? 0 : median(known));
    }
    const double center = median(medians);
    for (std::size_t i = 0; i < suite.machines.size(); ++i) {
      judged.machines.push_back({.name = suite.machines[i].name});
      if (!std::isnan(distances[i])) {
        judged.machines.back().ratio = std::exp(center + distances[i]);
      }
      note_left_out(suite, suite.machines[i], points);
    }
    for (const std::size_t i :
         outliers_of(distances, std::log1p(judgement_.settings.thresholds.at(Metric::time)))) {
      judged.machines[i].outlier = true;
    }
  }

  // At points that other machines can compare.
  void note_left_out(const Suite& suite, const SuiteMachine& machine,
                     const std::vector<std::size_t>& points) {
    std::size_t left_out = 0;
    std::string first;
    for (const std::size_t i : points) {
      const std::string why = incomparable_on_machine(suite.points[i], machine);
      left_out += why.empty() ? 0 : 1;
      first = first.empty() ? why : first;
    }
    if (left_out > 0) {
      judgement_.notes.push_back(fmt::format("{} is left out at {} of {} points: {}", machine.name, left_out,
                                             suite.points.size(), first));
    }
  }

  std::vector<RunLevels> history_of(const Suite& suite, Metric metric,
                                    const std::vector<std::size_t>& points) const {
    std::vector<RunLevels> runs;
    if (metric != Metric::time || suite.runs.base.size() != 1 || suite.runs.next.size() != 1) {
      return runs;
    }
    for (const PastRun& past : history_) {
      RunLevels levels;
      for (const std::size_t i : points) {
        const MatchedPoint& point = suite.points[i];
        double level = std::numeric_limits<double>::quiet_NaN();
        for (const Side side : kSides) {  // a new library's points are not in the history yet
          const auto found = past.points.find(point.runs[side].front()->key);
          level = std::isnan(level) && found != past.points.end() && found->second.median_ns > 0
                      ? std::log(found->second.median_ns)
                      : level;
        }
        levels.points.push_back(level);
      }
      if (std::ranges::any_of(levels.points, [](double level) { return !std::isnan(level); })) {
        runs.push_back(std::move(levels));
      }
    }
    return runs;
  }

  void note_mixed_sessions() {
    for (const Side side : kSides) {
      for (const ComparedRun& run : matching_.runs[side]) {
        const auto mixed = std::ranges::count_if(run.points, &RunPoint::mixed_sessions);
        if (mixed > 0) {
          judgement_.notes.push_back(
              fmt::format("{} pools several sessions at {} of its {} points (--resume)", run.path, mixed,
                          run.points.size()));
        }
      }
    }
  }

  void conclude() {
    const auto place = [](Verdict verdict) {
      return std::ranges::find(kVerdicts, verdict) - kVerdicts.begin();
    };
    for (JudgedPoint& point : judgement_.points) {
      for (const MetricChange& change : point.changes) {
        if (place(change.verdict) < place(point.verdict)) {
          point.verdict = change.verdict;
          point.reason = change.reason;
        }
        if (change.verdict == Verdict::inconclusive) {
          gather(change.estimate, judgement_.suites[point.suite]);
        }
      }
      ++judgement_.counts[point.verdict];
    }
    for (const JudgedSuite& suite : judgement_.suites) {
      if (suite.common && suite.common_verdict == Verdict::inconclusive) {
        gather(*suite.common, suite);
      }
    }
    if (!smallest_changes_.empty()) {
      judgement_.smallest_change = std::ranges::max(smallest_changes_);
      judgement_.smallest_change_of_half = median(smallest_changes_);
    }
    const auto ratio = [](const JudgedPoint& point) {
      const MetricChange* const time = point.change(Metric::time);
      return time == nullptr ? 1 : time->estimate.ratio.value;
    };
    std::ranges::stable_sort(judgement_.points, [&](const JudgedPoint& a, const JudgedPoint& b) {
      return std::pair(place(a.verdict), -ratio(a)) < std::pair(place(b.verdict), -ratio(b));
    });
    judgement_.code = code();
  }

  // Into what would settle everything.
  void gather(const ChangeEstimate& estimate, const JudgedSuite& suite) {
    if (estimate.smallest_change) {
      smallest_changes_.push_back(*estimate.smallest_change);
    }
    if (!estimate.further_runs) {
      beyond_reach_ = true;
    } else {
      // Of few machines, each gives as many of the pairs.
      const std::size_t machines = suite.machines.size();
      const auto a_pair = static_cast<std::int64_t>(machines == 0 || is_observation(machines) ? 1 : machines);
      judgement_.further_runs =
          std::max(judgement_.further_runs.value_or(0), (*estimate.further_runs + a_pair - 1) / a_pair);
    }
    if (beyond_reach_) {
      judgement_.further_runs.reset();
    }
  }

  ExitCode code() const {
    const auto regresses = [](const auto& judged) { return is_regression(judged.verdict); };
    const auto common_is = [&](Verdict verdict) {
      return std::ranges::any_of(judgement_.suites, [&](const JudgedSuite& suite) {
        return suite.common && suite.common_verdict == verdict;
      });
    };
    if (std::ranges::any_of(judgement_.points, regresses) || common_is(Verdict::slower)) {
      return ExitCode::regression;
    }
    if (judgement_.settled() || judgement_.settings.allow_inconclusive) {
      return ExitCode::done;
    }
    return times_of_one_round_ > 0 && times_of_one_round_ == times_ ? ExitCode::not_comparable
                                                                    : ExitCode::inconclusive;
  }

  static constexpr std::size_t kLongestReason = 300;
  const Matching& matching_;
  const std::vector<PastRun>& history_;
  Judgement judgement_;
  std::size_t tests_ = 0;  // of a metric at a point
  std::size_t times_ = 0;  // points that both sides timed
  std::size_t times_of_one_round_ = 0;
  std::vector<double> smallest_changes_;
  bool beyond_reach_ = false;
};

}  // namespace

const MetricChange* JudgedPoint::change(Metric metric) const {
  const auto found = std::ranges::find(changes, metric, &MetricChange::metric);
  return found == changes.end() ? nullptr : &*found;
}

std::size_t Judgement::count(Verdict verdict) const {
  const auto found = counts.find(verdict);
  return found == counts.end() ? 0 : found->second;
}

std::size_t Judgement::compared() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const JudgedPoint& point) { return !point.changes.empty(); }));
}

double Judgement::inconclusive_share() const {
  const auto asked = std::ranges::count_if(points, [](const JudgedPoint& point) {
    return !point.changes.empty() || point.verdict == Verdict::inconclusive;
  });
  return asked == 0 ? 0 : static_cast<double>(count(Verdict::inconclusive)) / static_cast<double>(asked);
}

bool Judgement::settled() const {
  return count(Verdict::inconclusive) == 0 && std::ranges::none_of(suites, [](const JudgedSuite& suite) {
           return suite.common && suite.common_verdict == Verdict::inconclusive;
         });
}

Judgement judge(const Matching& matching, const CompareSettings& settings,
                const std::vector<PastRun>& history) {
  return Judge(matching, settings, history).judge();
}

}  // namespace bench
