#include "bench/stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/stats/change_interval.h"
#include "bench/stats/moderated_variance.h"
#include "bench/stats/run_contrast.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr std::size_t kFewestPoints = 4;  // of which a common change is told apart from the points' own
constexpr double kCommonLevel = 0.1;      // of alpha, for the common change
constexpr double kGuardLevel = 0.5;       // of alpha, for the change that the calibration does not explain
constexpr double kSomeRuns = 5;           // a side; below they are few
constexpr double kLeastOfSome = 0.25;     // of the usual variance

double square(double value) {
  return value * value;
}

void check_runs(const RunsToCompare& runs, const ComparisonOptions& options) {
  if (runs.base.empty() || runs.next.empty() || (runs.paired && runs.base.size() != runs.next.size())) {
    throw std::invalid_argument("a comparison wants runs on both sides, in pairs as many");
  }
  const std::size_t points = runs.base.front().points.size();
  for (const auto* side : {&runs.base, &runs.next, &runs.history}) {
    for (const RunLevels& run : *side) {
      if (run.points.size() != points ||
          std::ranges::any_of(run.points, [](double level) { return std::isinf(level); })) {
        throw std::invalid_argument("runs of a comparison want the same points, and finite logarithms");
      }
    }
  }
  if (!(options.alpha > 0 && options.alpha < 1) || !(options.threshold > 0) || options.look.value_or(1) < 1) {
    throw std::invalid_argument("a comparison wants alpha within (0, 1) and a positive threshold");
  }
}

// The mean of the points' variances, less the largest tenth of them.
double usual_variance(std::span<const double> variances, std::span<const double> freedoms) {
  constexpr std::size_t kLeftOut = 10;
  std::vector<double> known;
  for (std::size_t p = 0; p < variances.size(); ++p) {
    if (freedoms[p] > 0) {
      known.push_back(variances[p]);
    }
  }
  std::ranges::sort(known);
  known.resize(known.size() - known.size() / kLeftOut);
  return mean(known);
}

class Comparer {
 public:
  Comparer(const RunsToCompare& runs, const ComparisonOptions& options)
      : runs_(runs),
        groups_(groups_of(runs)),
        points_(runs.base.front().points.size()),
        threshold_(options.threshold) {
    const auto look = static_cast<double>(options.look.value_or(1));
    for (const RunGroup& group : groups_) {
      if (group.coefficient != 0) {
        sides_.push_back(static_cast<double>(group.runs.size()));
      }
    }
    alpha_ = options.look ? options.alpha / (look * (look + 1)) : options.alpha;
  }

  Comparison compare() const;

 private:
  struct OwnNoise {
    std::vector<RunContrast> contrasts;     // by point, after the runs' shifts
    std::vector<ModeratedVariance> of_run;  // by point
  };
  struct Common {
    std::vector<double> weights;  // by point, sum 1
    ByRun known;                  // weights of the points that the run has
    ByRun shifts;                 // about 0 within each group; 0 where nothing is known
    RunContrast contrast;         // of the known shifts; the change is that between the sides
  };
  ByRun levels_of(std::size_t point) const;
  ByRun calibrations() const;
  double fewest_runs() const { return std::ranges::min(sides_); }
  double outlier(const OwnNoise& noise) const;
  double kept_by(const Common& common, std::size_t point, const ByRun& levels) const;
  OwnNoise find_noise(const Common* common) const;
  std::vector<double> equal_weights(const OwnNoise& noise) const;
  std::vector<double> weigh(const OwnNoise& noise) const;
  Common find_common(std::vector<double> weights) const;
  CommonChange judge_common(const Common& common, double own_variance, double level) const;
  std::vector<ChangeEstimate> judge_points(const OwnNoise& noise, const Common* common, double share,
                                           double shift_variance, double level) const;
  ChangeEstimate judge_change(const UncertainChange& change, CriticalT& critical) const {
    ChangeEstimate judged = judge(change, threshold_, sides_, critical);
    judged.ratio.level = 100 * (1 - alpha_);
    return judged;
  }

  const RunsToCompare& runs_;
  std::vector<RunGroup> groups_;
  std::vector<double> sides_;  // runs of each side, or pairs
  std::size_t points_;
  double threshold_;
  double alpha_ = 0;
};

ByRun Comparer::levels_of(std::size_t point) const {
  ByRun levels;
  for (const RunGroup& group : groups_) {
    std::vector<double>& of_group = levels.emplace_back();
    for (const RunLevels& run : group.runs) {
      of_group.push_back(run.points[point]);
    }
  }
  return levels;
}

// Empty unless every run has one.
ByRun Comparer::calibrations() const {
  ByRun calibrations;
  for (const RunGroup& group : groups_) {
    std::vector<double>& of_group = calibrations.emplace_back();
    for (const RunLevels& run : group.runs) {
      if (!run.calibration || !std::isfinite(*run.calibration)) {
        return {};
      }
      of_group.push_back(*run.calibration);
    }
  }
  return calibrations;
}

// With one or two runs a side the mean is at the mercy of one run's outlier, and noise may have heavier tails
// than Student's t allows for: the change that an outlier kBeyondSeen times as far as any point's farthest
// would make. 0 with more runs.
double Comparer::outlier(const OwnNoise& noise) const {
  constexpr double kVeryFew = 2;
  constexpr double kBeyondSeen = 2.5;
  if (fewest_runs() > kVeryFew) {
    return 0;
  }
  double farthest = 0;
  for (const RunContrast& contrast : noise.contrasts) {
    farthest = std::max(farthest, contrast.farthest);
  }
  return kBeyondSeen * farthest / fewest_runs();
}

// Each run's shift took a share of the point's own noise with it: its weight among the points that the run
// has. The rest, over the runs that tell of its noise; 0 where the point is all that they have.
double Comparer::kept_by(const Common& common, std::size_t point, const ByRun& levels) const {
  double kept = 0;
  double freedom = 0;
  for (std::size_t g = 0; g < levels.size(); ++g) {
    double of_group = 0;
    double count = 0;
    for (std::size_t r = 0; r < levels[g].size(); ++r) {
      if (!std::isnan(levels[g][r])) {
        const double known = common.known[g][r];
        of_group += known > 0 ? 1 - common.weights[point] / known : 1;
        ++count;
      }
    }
    if (count > 1) {
      kept += of_group * (count - 1) / count;
      freedom += count - 1;
    }
  }
  constexpr double kRounding = 1e-9;
  return freedom > 0 && kept > kRounding * freedom ? kept / freedom : 0;
}

// Without `common` the levels are taken as they are, and no point borrows: what all points share would make
// their variances alike.
Comparer::OwnNoise Comparer::find_noise(const Common* common) const {
  OwnNoise noise;
  std::vector<double> variances;
  std::vector<double> freedoms;
  for (std::size_t p = 0; p < points_; ++p) {
    ByRun levels = levels_of(p);
    for (std::size_t g = 0; common && g < levels.size(); ++g) {
      std::ranges::transform(levels[g], common->shifts[g], levels[g].begin(), std::minus<>());
    }
    const RunContrast& contrast = noise.contrasts.emplace_back(contrast_of(groups_, levels));
    const double kept = common ? kept_by(*common, p, levels) : 1;
    freedoms.push_back(std::isnan(contrast.change) || kept == 0 ? 0 : contrast.freedom);
    variances.push_back(freedoms.back() > 0 ? contrast.squares / contrast.freedom / kept : 0);
  }
  const VariancePrior prior = common ? fit_variance_prior(variances, freedoms) : VariancePrior{};
  // With few runs a point may have had its fast ones on one side and its slow ones on the other by chance,
  // with no variance within either: it is taken to be at least so noisy, compared with the others.
  const double share = fewest_runs() < kSomeRuns ? 1 : fewest_runs() == kSomeRuns ? kLeastOfSome : 0;
  const double least = common ? share * usual_variance(variances, freedoms) : 0;
  for (std::size_t p = 0; p < points_; ++p) {
    ModeratedVariance moderated = moderate(prior, variances[p], freedoms[p], points_);
    moderated.variance = std::max(moderated.variance, least);
    noise.of_run.push_back(moderated);
  }
  return noise;
}

std::vector<double> Comparer::equal_weights(const OwnNoise& noise) const {
  std::vector<double> weights;
  for (const RunContrast& contrast : noise.contrasts) {
    weights.push_back(std::isnan(contrast.change) ? 0 : 1);
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::ranges::for_each(weights, [total](double& weight) { weight /= total; });
  return weights;
}

// Weights for what the points share: 1/variance, none more than twice the median's, times Tukey's biweight
// of the points' changes, so that those that changed otherwise than most count for nothing.
std::vector<double> Comparer::weigh(const OwnNoise& noise) const {
  constexpr double kReach = 4.685;  // standard errors; 95 % efficient for normal changes
  constexpr double kMostOfMedian = 2;
  constexpr double kMostOfAll = 0.5;  // of one point; beyond it the others would be judged by that one
  std::vector<double> weights(points_, 0);
  std::vector<double> changes;
  std::vector<double> inverses;
  for (std::size_t p = 0; p < points_; ++p) {
    if (!std::isnan(noise.contrasts[p].change)) {
      changes.push_back(noise.contrasts[p].change);
      inverses.push_back(1 / std::max(noise.of_run[p].variance, 1e-300));
    }
  }
  const double most = kMostOfMedian * median(inverses);
  double center = median(changes);
  constexpr int kSteps = 5;
  for (int step = 0; step < kSteps; ++step) {
    double sum = 0;
    double total = 0;
    for (std::size_t p = 0; p < points_; ++p) {
      const RunContrast& contrast = noise.contrasts[p];
      if (std::isnan(contrast.change)) {
        continue;
      }
      const double variance = std::max(noise.of_run[p].variance, 1e-300);
      const double away = square((contrast.change - center) / kReach) / (variance * contrast.factor);
      weights[p] = away < 1 ? std::min(1 / variance, most) * square(1 - away) : 0;
      sum += weights[p] * contrast.change;
      total += weights[p];
    }
    if (!(total > 0)) {
      break;
    }
    center = sum / total;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(total > 0 && std::ranges::max(weights) <= kMostOfAll * total)) {
    return equal_weights(noise);
  }
  for (double& weight : weights) {
    weight /= total;
  }
  return weights;
}

Comparer::Common Comparer::find_common(std::vector<double> weights) const {
  Common common{.weights = std::move(weights), .known = {}, .shifts = {}, .contrast = {}};
  ByRun sums;
  for (const RunGroup& group : groups_) {
    sums.emplace_back(group.runs.size(), 0.0);
    common.known.emplace_back(group.runs.size(), 0.0);
  }
  double change = 0;
  double total = 0;
  for (std::size_t p = 0; p < points_; ++p) {
    const double weight = common.weights[p];
    if (!(weight > 0)) {
      continue;
    }
    const ByRun levels = levels_of(p);
    const RunContrast contrast = contrast_of(groups_, levels);
    if (std::isnan(contrast.change)) {
      continue;
    }
    change += weight * contrast.change;
    total += weight;
    for (std::size_t g = 0; g < levels.size(); ++g) {
      for (std::size_t r = 0; r < levels[g].size(); ++r) {
        if (!std::isnan(levels[g][r])) {
          sums[g][r] += weight * (levels[g][r] - contrast.means[g]);
          common.known[g][r] += weight;
        }
      }
    }
  }
  ByRun known_shifts = sums;
  for (std::size_t g = 0; g < sums.size(); ++g) {
    std::vector<double>& shifts = common.shifts.emplace_back();
    for (std::size_t r = 0; r < sums[g].size(); ++r) {
      known_shifts[g][r] = sums[g][r] / common.known[g][r];  // not a number where nothing is known
      shifts.push_back(common.known[g][r] > 0 ? known_shifts[g][r] : 0);
    }
  }
  common.contrast = contrast_of(groups_, known_shifts);
  common.contrast.change = total > 0 ? change / total : 0;
  return common;
}

CommonChange Comparer::judge_common(const Common& common, double own_variance, double level) const {
  const RunContrast& contrast = common.contrast;
  CommonChange judged;
  if (!(contrast.freedom > 0)) {
    judged.ratio.value = std::exp(contrast.change);
    judged.reason = InconclusiveReason::no_spread;
    return judged;
  }
  CriticalT critical(level);
  const double variance = std::max(contrast.squares / contrast.freedom, own_variance);
  const double error = std::sqrt(variance * contrast.factor);
  static_cast<ChangeEstimate&>(judged) = judge_change({.value = contrast.change,
                                                       .standard_error = error,
                                                       .freedom = contrast.freedom,
                                                       .reach = critical(contrast.freedom) * error},
                                                      critical);
  ByRun less = calibrations();
  if (less.empty()) {
    return judged;
  }
  const double calibration = contrast_of(groups_, less).change;
  judged.calibration_ratio = std::exp(calibration);
  for (std::size_t g = 0; g < less.size(); ++g) {
    std::ranges::transform(common.shifts[g], less[g], less[g].begin(), std::minus<>());
  }
  const double left = contrast.change - calibration;
  const double left_error = std::sqrt(
      std::max(contrast_of(groups_, less).squares / contrast.freedom, own_variance) * contrast.factor);
  CriticalT guard(kGuardLevel * alpha_);
  judged.adjusted = interval_of(left, guard(contrast.freedom) * left_error);
  // Nothing sure is left, or less than half of the change.
  const bool sure_left = contrast.change > 0 ? judged.adjusted->low > 1 : judged.adjusted->high < 1;
  const bool explained = !sure_left || std::abs(left) < std::abs(contrast.change) / 2;
  const bool changed =
      judged.verdict == ComparisonVerdict::slower || judged.verdict == ComparisonVerdict::faster;
  if (changed && explained) {
    judged.verdict = ComparisonVerdict::inconclusive;
    judged.reason = InconclusiveReason::calibration;
  }
  const Interval sure = interval_of(left, critical(contrast.freedom) * left_error);
  if (judged.reason == InconclusiveReason::noise && verdict_of(sure, threshold_) == ComparisonVerdict::same) {
    judged.verdict = ComparisonVerdict::same;
    judged.reason = InconclusiveReason::none;
    judged.further_runs.reset();
  }
  return judged;
}

// Subtracts `share` of the common change from each point's. The runs' shifts then still add shift_variance a
// run to a point's variance.
std::vector<ChangeEstimate> Comparer::judge_points(const OwnNoise& noise, const Common* common, double share,
                                                   double shift_variance, double level) const {
  CriticalT critical(level);
  double own_variance = 0;
  for (std::size_t p = 0; common && p < points_; ++p) {
    own_variance += square(common->weights[p]) * noise.of_run[p].variance;
  }
  const double beyond = outlier(noise);
  std::vector<ChangeEstimate> judged;
  for (std::size_t p = 0; p < points_; ++p) {
    const RunContrast& contrast = noise.contrasts[p];
    const ModeratedVariance& own = noise.of_run[p];
    ChangeEstimate& estimate = judged.emplace_back();
    if (std::isnan(contrast.change)) {
      estimate.reason = InconclusiveReason::no_value;
      continue;
    }
    double change = contrast.change;
    double variance = own.variance;
    if (common) {
      // The common change as the other points have it.
      const double weight = common->weights[p];
      const double others = (common->contrast.change - weight * contrast.change) / (1 - weight);
      change -= share * others;
      variance += share * (own_variance - square(weight) * own.variance) / square(1 - weight);
    }
    if (!(own.freedom > 0)) {
      estimate.ratio.value = std::exp(change);
      estimate.reason = InconclusiveReason::no_spread;
      continue;
    }
    // With two sources of noise, each with its own degrees of freedom, the ends are cautious (Cochran 1964).
    const Reach of_own = critical(own.freedom);
    const Reach of_shift = shift_variance > 0 ? critical(common->contrast.freedom) : Reach{};
    const auto reach = [&](double own_t, double shift_t) {
      return std::max(
          std::sqrt(contrast.factor * (variance * square(own_t) + shift_variance * square(shift_t))), beyond);
    };
    estimate = judge_change({.value = change,
                             .standard_error = std::sqrt((variance + shift_variance) * contrast.factor),
                             .freedom = own.freedom,
                             .reach = {.below = reach(of_own.below, of_shift.below),
                                       .above = reach(of_own.above, of_shift.above)}},
                            critical);
  }
  return judged;
}

Comparison Comparer::compare() const {
  Comparison comparison;
  comparison.alpha = alpha_;
  OwnNoise noise = find_noise(nullptr);
  const auto compared = static_cast<std::size_t>(std::ranges::count_if(
      noise.contrasts, [](const RunContrast& contrast) { return !std::isnan(contrast.change); }));
  if (compared < kFewestPoints) {
    comparison.points =
        judge_points(noise, nullptr, 0, 0, alpha_ / static_cast<double>(std::max<std::size_t>(compared, 1)));
    return comparison;
  }
  Common common = find_common(equal_weights(noise));
  noise = find_noise(&common);
  common = find_common(weigh(noise));
  noise = find_noise(&common);

  double own_variance = 0;
  for (std::size_t p = 0; p < points_; ++p) {
    own_variance += square(common.weights[p]) * noise.of_run[p].variance;
  }
  const double common_level = alpha_ * std::max(kCommonLevel, 1 / static_cast<double>(compared + 1));
  const double level = (alpha_ - common_level) / static_cast<double>(compared);
  comparison.common = judge_common(common, own_variance, common_level);
  const RunContrast& shift = common.contrast;
  const bool real =
      comparison.common->ratio.differs_from_one() && comparison.common->reason == InconclusiveReason::none;
  const double with_change = (shift.squares + square(shift.change) / shift.factor) / (shift.freedom + 1);
  comparison.common_share = real || !(shift.freedom > 0) ? 0 : std::max(0.0, 1 - own_variance / with_change);
  const double shift_variance = real ? std::max(0.0, shift.squares / shift.freedom - own_variance) : 0;
  comparison.points = judge_points(noise, &common, comparison.common_share, shift_variance, level);
  return comparison;
}

}  // namespace

Comparison compare_runs(const RunsToCompare& runs, const ComparisonOptions& options) {
  check_runs(runs, options);
  return Comparer(runs, options).compare();
}

}  // namespace bench
