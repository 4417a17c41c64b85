#include "noise.h"

#include <cmath>
#include <numbers>

#include "bench/stats/random.h"
#include "bench/stats/statistics.h"

namespace bench::gate {
namespace {

constexpr double kOwnCalibrationSd = 0.003;
constexpr double kIndependentCalibrationSd = 0.02;

// Box and Muller, so that the numbers are the same with every standard library.
double normal_draw(std::mt19937_64& engine) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_draw(engine)));
  return radius * std::cos(2 * std::numbers::pi * unit_draw(engine));
}

class Simulator {
 public:
  Simulator(const NoiseModel& model, const Design& design, std::uint64_t seed)
      : model_(model), design_(design), engine_(seed), chains_(static_cast<std::size_t>(design.points)) {
    for (double& chain : chains_) {
      chain = normal_draw(engine_);
    }
    for (int p = 0; p < design.points && model.recorded; ++p) {
      chosen_.push_back(bounded_draw(engine_, model.recorded->points.size()));
    }
  }

  // `when` from 0, the first run, to 1.
  RunLevels run(double when, const Effects& effects);
  double any_time() { return unit_draw(engine_); }

 private:
  double run_sd(int point) const;
  double level(int point);
  std::vector<double> rounds(int point, const std::vector<double>& picks);

  const NoiseModel& model_;
  const Design& design_;
  std::mt19937_64 engine_;
  std::vector<double> chains_;
  std::vector<std::size_t> chosen_;
};

double Simulator::run_sd(int point) const {
  const std::vector<double>& sds = model_.run_sds;
  return sds.empty() ? model_.run_sd : sds[static_cast<std::size_t>(point) % sds.size()];
}

// A run's own part of a point's logarithm.
double Simulator::level(int point) {
  const double z = normal_draw(engine_);
  const bool slow = model_.whole_runs && unit_draw(engine_) < model_.slow_share;
  const double own = model_.lognormal ? std::log1p(model_.run_sd * std::exp(z)) : run_sd(point) * z;
  return own + (slow ? std::log1p(model_.slow_by) : 0);
}

// Logarithms of a run's rounds of one point, around its level.
std::vector<double> Simulator::rounds(int point, const std::vector<double>& picks) {
  const auto at = static_cast<std::size_t>(point);
  std::vector<double> logs;
  if (!model_.carried) {
    chains_[at] = normal_draw(engine_);
  }
  for (int r = 0; r < design_.rounds; ++r) {
    if (model_.recorded) {
      const std::vector<double>& drawn = model_.recorded->points[chosen_[at]];
      const double pick = model_.together ? picks[static_cast<std::size_t>(r)] : unit_draw(engine_);
      logs.push_back(std::log(drawn[static_cast<std::size_t>(pick * static_cast<double>(drawn.size()))]));
      continue;
    }
    chains_[at] = model_.phi * chains_[at] + std::sqrt(1 - model_.phi * model_.phi) * normal_draw(engine_);
    const double z = chains_[at];
    const double noise = model_.lognormal ? std::log1p(model_.round_sd * std::exp(z)) : model_.round_sd * z;
    const bool slow = !model_.whole_runs && unit_draw(engine_) < model_.slow_share;
    logs.push_back(noise + (slow ? std::log1p(model_.slow_by) : 0));
  }
  return logs;
}

RunLevels Simulator::run(double when, const Effects& effects) {
  RunLevels run;
  const double machine = model_.shift_sd * normal_draw(engine_) + model_.drift * (2 * when - 1);
  std::vector<double> picks;
  for (int r = 0; r < design_.rounds; ++r) {
    picks.push_back(unit_draw(engine_));
  }
  for (int p = 0; p < design_.points; ++p) {
    const double center =
        machine + (model_.recorded ? 0 : level(p)) + effects.all + (p == effects.point ? effects.one : 0);
    // The value that summarize() gives a point: the median of its rounds' medians.
    std::vector<double> times;
    for (const double round : rounds(p, picks)) {
      times.push_back(std::exp(center + round));
    }
    run.points.push_back(std::log(median(times)));
  }
  if (model_.calibration == NoiseModel::Calibration::shares) {
    run.calibration = machine + kOwnCalibrationSd * normal_draw(engine_);
  } else if (model_.calibration == NoiseModel::Calibration::independent) {
    run.calibration = kIndependentCalibrationSd * normal_draw(engine_);
  }
  return run;
}

}  // namespace

RunsToCompare simulate(const NoiseModel& model, const Design& design, const Effects& effects,
                       std::uint64_t seed) {
  Simulator simulator(model, design, seed);
  RunsToCompare runs;
  runs.paired = design.paired;
  for (int i = 0; i < design.history; ++i) {
    runs.history.push_back(simulator.run(simulator.any_time(), {}));
  }
  const int base_runs = design.base_runs > 0 ? design.base_runs : design.runs;
  const int all = base_runs + design.runs;
  for (int i = 0; i < all; ++i) {
    const bool in_turn = model.in_turn || design.paired;
    const bool base = in_turn ? i % 4 == 0 || i % 4 == 3 : i < base_runs;
    RunLevels run = simulator.run(static_cast<double>(i) / (all - 1), base ? Effects{} : effects);
    (base ? runs.base : runs.next).push_back(std::move(run));
  }
  return runs;
}

}  // namespace bench::gate
