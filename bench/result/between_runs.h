// Standard deviation of a point's median between runs on one machine, from the runs in its history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "bench/result/calibration.h"
#include "bench/result/result.h"
#include "bench/stats/estimate.h"

namespace bench {

// Fewer show no spread that an interval could rest on.
inline constexpr std::int64_t kLeastKnownRuns = 3;

struct RunMedian {
  double median_ns = 0;
  double standard_error = 0;  // of its logarithm, as the run itself tells; 0: not known
};
using RunMedians = std::map<std::string, RunMedian>;  // by PointKeys::of()

// An earlier run, as the history keeps it.
struct PastRun {
  std::string id;       // of the session
  std::string started;  // ISO 8601
  Calibrations calibration;
  RunMedians points;
};

// Keys of points that a session measured: a point by all that its time may rest on except the program's build
// and the hour: name, params, options, versions, cores and thread settings.
class PointKeys {
 public:
  PointKeys(const ResultDocument& document, const Session& session);
  std::string of(const Point& point) const;

 private:
  std::string shared_;  // by all points
};

// The medians of the rounds that a session measured.
RunMedians medians_of(const ResultDocument& document, std::size_t session);

struct BetweenRunsFit {
  BetweenRuns spread;                       // `since` is left to the caller
  std::map<std::string, Interval> ci95_ns;  // of the points of `now` that at least three runs have
};

// The model: log median = point + what the run's points share + the point's own deviation. The shared part
// has one degree of freedom a run; the variance of a point's own part is drawn towards that of a typical
// point (a scaled inverse chi-square prior of four degrees of freedom). Runs far from the others are drawn
// in, the run at hand excepted: a disturbed one does not widen the intervals of later ones. The interval is
// Student's, of the point's median over all such runs, with freedom by Satterthwaite; a run that knows its
// own median less well than the earlier ones did has a wider one. nullopt where no point is known from three
// runs.
std::optional<BetweenRunsFit> fit_between_runs(std::span<const PastRun> earlier, const RunMedians& now);

// The machine's usual calibration: by kernel the median of the earlier runs; none below three.
std::map<std::string, SessionCalibration> with_usual(std::map<std::string, SessionCalibration> now,
                                                     std::span<const PastRun> earlier);

// "arithmetic on the host takes 1.12× its usual time on this machine (median of 8 runs)": where a calibration
// differs from the usual by more than 5 %, the worst of them; else nullopt.
std::optional<std::string> unusual_speed(const Session& session);

// "Between runs: 95 % intervals of ±5.2 % at the median point (8 runs since 2026-03-01); none at 2 of 7
// points …": how much the history says of this run's points, and why it says nothing of others. Empty without
// points.
std::string between_runs_in_words(const ResultDocument& document);

}  // namespace bench
