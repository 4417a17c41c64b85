// The verdict on every point of a comparison, and on the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/differences.h"
#include "bench/compare/matching.h"
#include "bench/compare/metric_change.h"
#include "bench/error.h"
#include "bench/result/between_runs.h"
#include "bench/stats/comparison.h"

namespace bench {

struct CompareSettings {
  double alpha = 0.01;  // of all statements together
  std::map<Metric, double> thresholds{{Metric::time, 0.03},
                                      {Metric::stall, 0.03},
                                      {Metric::planned, 0},
                                      {Metric::tracked, 0},
                                      {Metric::driver, 0.05}};
  bool allow_inconclusive = false;
  bool paired = false;                 // the runs of both sides in the order given are pairs
  std::optional<std::int64_t> look{};  // at data that grow, from 1
  std::optional<double> pair_ns{};     // that a pair took
};

struct JudgedPoint {
  std::string name;
  std::size_t suite = 0;
  Verdict verdict = Verdict::same;  // the worst of its changes
  std::string reason{};             // why it is missing, failing or inconclusive
  std::vector<MetricChange> changes{};
  double items_per_step = 0;

  const MetricChange* change(Metric metric) const;
};

// A machine of a suite that is compared by machine.
struct JudgedMachine {
  std::string name;
  std::optional<double>
      ratio{};           // next over base, of what its points share; none: it has no point to compare
  bool outlier = false;  // it changed otherwise than the other machines
};

// The change that the points of a suite share.
struct JudgedSuite {
  std::string name;  // "batch of resnet18"
  std::string device;
  BothSides<std::size_t> runs{};
  std::optional<CommonChange> common{};
  Verdict common_verdict = Verdict::same;
  std::string common_reason{};  // of an inconclusive one
  double common_share = 0;      // of it taken out of each point's change
  std::string calibration{};    // that was used: "host", "device"; empty: none
  std::vector<JudgedMachine> machines{};
};

struct Judgement {
  CompareSettings settings;
  BothSides<std::vector<std::string>> files;
  std::vector<JudgedSuite> suites;
  std::vector<JudgedPoint> points;  // worst first
  std::vector<Difference> differences;
  std::vector<std::string> notes;  // sentences
  std::map<Verdict, std::size_t> counts;
  // For the inconclusive changes: the smallest slowdown that all of them could have shown; the one that half
  // of them could; and the further runs (or pairs) that would settle all. None: not known, or too many.
  std::optional<double> smallest_change;
  std::optional<double> smallest_change_of_half;
  std::optional<std::int64_t> further_runs;
  ExitCode code = ExitCode::done;

  std::size_t count(Verdict verdict) const;
  std::size_t compared() const;       // points with a value on both sides
  double inconclusive_share() const;  // of those, and of points that NEW's time budget left out
  bool settled() const;               // nothing is inconclusive
};

// `history`: earlier runs of the machine, on neither side; where a side has one run, and so has the other,
// they tell how much runs differ.
Judgement judge(const Matching& matching, const CompareSettings& settings,
                const std::vector<PastRun>& history = {});

}  // namespace bench
