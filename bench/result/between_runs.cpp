#include "bench/result/between_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "bench/stats/student_t.h"
#include "bench/text/fingerprint.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr double kPriorFreedom = 4;

// Log medians, a row a point and a column a run; NaN where the run lacks the point. The last run is the one
// at hand.
struct Table {
  std::vector<std::string> keys;
  std::vector<std::vector<double>> rows;
  std::size_t runs = 0;
};

bool known(double value) {
  return !std::isnan(value);
}

double log_median(const RunMedians& run, const std::string& key) {
  const auto found = run.find(key);
  return found != run.end() && found->second.median_ns > 0 ? std::log(found->second.median_ns)
                                                           : std::numeric_limits<double>::quiet_NaN();
}

Table table_of(std::span<const PastRun> earlier, const RunMedians& now) {
  // Runs without any of these points are another sweep's.
  std::vector<const RunMedians*> runs;
  for (const PastRun& run : earlier) {
    if (std::ranges::any_of(now, [&](const auto& point) { return run.points.contains(point.first); })) {
      runs.push_back(&run.points);
    }
  }
  runs.push_back(&now);
  Table table{.keys = {}, .rows = {}, .runs = runs.size()};
  for (const auto& [key, median] : now) {
    std::vector<double> row;
    for (const RunMedians* const run : runs) {
      row.push_back(log_median(*run, key));
    }
    if (known(row.back()) && std::ranges::count_if(row, known) >= kLeastKnownRuns) {
      table.keys.push_back(key);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

// Median over the known values of `values(i)`, i < count; 0 where there are none.
template <class Values>
double median_of_known(std::size_t count, const Values& values) {
  std::vector<double> found;
  for (std::size_t i = 0; i < count; ++i) {
    if (const double value = values(i); known(value)) {
      found.push_back(value);
    }
  }
  return found.empty() ? 0 : median(found);
}

// Median polish (Tukey): takes the points' levels out of the rows and returns the runs' common part. The
// residuals stay in the rows.
std::vector<double> polish(Table& table) {
  constexpr int kSweeps = 4;
  std::vector<double> shared(table.runs, 0);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (auto& row : table.rows) {
      const double level = median_of_known(table.runs, [&](std::size_t run) { return row[run]; });
      std::ranges::for_each(row, [&](double& value) { value -= level; });
    }
    for (std::size_t run = 0; run < table.runs; ++run) {
      const double shift =
          median_of_known(table.rows.size(), [&](std::size_t point) { return table.rows[point][run]; });
      shared[run] += shift;
      std::ranges::for_each(table.rows, [&](auto& row) { row[run] -= shift; });
    }
  }
  return shared;
}

struct Variance {
  double value = 0;
  double freedom = 0;
};

// Of values of which the last belongs to the run at hand. Values further than four robust standard deviations
// from the median are drawn in: a run that was disturbed says nothing of the others. What the run at hand
// exceeds that by is its own affair.
struct Spread {
  Variance of_runs;
  double excess = 0;  // of the run at hand
};

Spread spread_of(const std::vector<double>& values) {
  constexpr double kReach = 4;
  std::vector<double> drawn_in;
  std::ranges::copy_if(values, std::back_inserter(drawn_in), known);
  const double center = median(drawn_in);
  const double reach = kReach * robust_deviation(drawn_in, center);
  const double excess = std::max(0.0, std::abs(drawn_in.back() - center) - reach);
  if (reach > 0) {
    std::ranges::for_each(drawn_in,
                          [&](double& value) { value = std::clamp(value, center - reach, center + reach); });
  }
  return {{variance(drawn_in), static_cast<double>(drawn_in.size()) - 1}, reach > 0 ? excess : 0};
}

// The median of a chi-square variable over its freedom, within 1 % (Wilson and Hilferty 1931).
double median_of_chi_square(double freedom) {
  const double root = 1 - 2 / (9 * freedom);
  return root * root * root;
}

double mean_squared_error(std::span<const PastRun> earlier, const std::string& key) {
  std::vector<double> squares;
  for (const PastRun& run : earlier) {
    if (const auto found = run.points.find(key); found != run.points.end()) {
      squares.push_back(found->second.standard_error * found->second.standard_error);
    }
  }
  return mean(squares);
}

std::string with_versions(const ResultDocument& document) {
  std::string text;
  for (const auto& [name, version] : document.context.software) {
    if (name != "git") {
      text += fmt::format("{}={}\n", name, version);
    }
  }
  return text;
}

std::string joined(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

}  // namespace

PointKeys::PointKeys(const ResultDocument& document, const Session& session)
    : shared_(fmt::format("{}\n{}\n{}\n{}\n{}", document.sweep.mode, joined(document.sweep.workload_options),
                          with_versions(document), document.context.host.usable_cores,
                          joined(session.threads))) {}

std::string PointKeys::of(const Point& point) const {
  return fingerprint(fmt::format("{}\n{}\n{}", point.name, to_line(point.params), shared_));
}

RunMedians medians_of(const ResultDocument& document, std::size_t session) {
  RunMedians medians;
  const PointKeys keys(document, document.sessions.at(session));
  for (const Point& point : measured_points(document)) {
    const bool whole = std::ranges::all_of(point.rounds, [&](const MeasuredRound& round) {
      return static_cast<std::size_t>(round.session) == session;
    });
    if (!whole || !(point.stats.median_ns > 0)) {  // a point of several sessions is no run's
      continue;
    }
    RunMedian& median = medians[keys.of(point)];
    median.median_ns = point.stats.median_ns;
    if (const auto& ci95 = point.stats.ci95_ns; ci95 && ci95->low > 0 && ci95->high > ci95->low) {
      constexpr double kWidth = 2 * 1.96;  // standard errors
      median.standard_error = std::log(ci95->high / ci95->low) / kWidth;
    }
  }
  return medians;
}

std::optional<BetweenRunsFit> fit_between_runs(std::span<const PastRun> earlier, const RunMedians& now) {
  Table table = table_of(earlier, now);
  if (table.rows.empty()) {
    return std::nullopt;
  }
  const std::vector<double> shared = polish(table);
  const Spread shared_spread = spread_of(shared);
  const double shared_freedom = shared_spread.of_runs.freedom;
  const double shared_variance = shared_spread.of_runs.value + shared_spread.excess * shared_spread.excess;

  // The residuals lost the freedom of the runs' shares, which all points paid for together.
  const auto points = static_cast<double>(table.rows.size());
  const double left = points > 1 ? (points - 1) / points : 1;
  std::vector<Variance> own;
  std::vector<double> excesses;
  std::vector<double> scaled;
  for (const auto& row : table.rows) {
    const Spread spread = spread_of(row);
    own.push_back(spread.of_runs);
    own.back().value /= left;
    excesses.push_back(spread.excess);
    scaled.push_back(own.back().value / median_of_chi_square(own.back().freedom));
  }
  const double typical = median(scaled);

  BetweenRunsFit fit;
  fit.spread = {.runs = static_cast<std::int64_t>(table.runs),
                .since = {},
                .common_sd = std::sqrt(shared_spread.of_runs.value),
                .own_sd = std::sqrt(typical)};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const RunMedian& median = now.at(table.keys[i]);
    const double own_freedom = own[i].freedom * left + kPriorFreedom;
    const double own_variance =
        (own[i].value * own[i].freedom * left + typical * kPriorFreedom) / own_freedom +
        excesses[i] * excesses[i];
    const double less_known = std::max(
        0.0, median.standard_error * median.standard_error - mean_squared_error(earlier, table.keys[i]));
    const double total = shared_variance + own_variance + less_known;
    if (!(total > 0)) {  // equal medians tell that the clock is coarse, not that runs are alike
      continue;
    }
    const double freedom =
        total * total /
        (shared_variance * shared_variance / shared_freedom + own_variance * own_variance / own_freedom +
         less_known * less_known / own_freedom);
    const double reach = std::exp(student_t_quantile(0.975, freedom) * std::sqrt(total));
    fit.ci95_ns[table.keys[i]] = {.low = median.median_ns / reach, .high = median.median_ns * reach};
  }
  return fit;
}

std::map<std::string, SessionCalibration> with_usual(std::map<std::string, SessionCalibration> now,
                                                     std::span<const PastRun> earlier) {
  for (auto& [processor, calibration] : now) {
    std::vector<double> arithmetic;
    std::vector<double> copy;
    for (const PastRun& run : earlier) {
      if (const auto found = run.calibration.find(processor); found != run.calibration.end()) {
        arithmetic.push_back(found->second.arithmetic_ns);
        copy.push_back(found->second.copy_ns);
      }
    }
    calibration.usual_runs = static_cast<std::int64_t>(arithmetic.size());
    if (calibration.usual_runs >= kLeastKnownRuns) {
      calibration.usual = Calibration{.arithmetic_ns = median(arithmetic), .copy_ns = median(copy)};
    }
  }
  return now;
}

std::optional<std::string> unusual_speed(const Session& session) {
  constexpr double kUsual = 1.05;
  double furthest = std::log(kUsual);
  std::optional<std::string> sentence;
  for (const auto& [processor, calibration] : session.calibration) {
    if (!calibration.usual) {
      continue;
    }
    const auto judge = [&, &name = processor, &of = calibration](std::string_view what, double now,
                                                                 double usual) {
      if (!(now > 0) || !(usual > 0) || std::abs(std::log(now / usual)) <= furthest) {
        return;
      }
      furthest = std::abs(std::log(now / usual));
      sentence = fmt::format("{} on the {} takes {:.2f}× its usual time on this machine (median of {} runs)",
                             what, name, now / usual, of.usual_runs);
    };
    judge("arithmetic", calibration.median.arithmetic_ns, calibration.usual->arithmetic_ns);
    judge("copying", calibration.median.copy_ns, calibration.usual->copy_ns);
  }
  return sentence;
}

std::string between_runs_in_words(const ResultDocument& document) {
  std::vector<double> half_widths;
  for (const Point& point : measured_points(document)) {
    const double value = point.stats.median_ns;
    if (const auto& interval = point.stats.ci95_between_ns; interval && value > 0) {
      half_widths.push_back(std::max(interval->high - value, value - interval->low) / value);
    }
  }
  const std::size_t all = measured_points(document).size();
  const std::size_t without = all - half_widths.size();
  if (all == 0) {
    return "";
  }
  if (half_widths.empty() || document.sessions.empty() || !document.sessions.back().history) {
    return fmt::format(
        "Between runs: no interval is known; this machine's history has fewer than {} runs of {} [repeat the "
        "run, without --no-cache].",
        kLeastKnownRuns, all == 1 ? "the only point" : "any point");
  }
  const BetweenRuns& history = *document.sessions.back().history;
  constexpr std::size_t kDate = 10;  // "2026-03-01"
  const double typical = median(half_widths);
  std::string text = fmt::format("Between runs: 95 % intervals of {} at the median point ({} runs since {})",
                                 typical > 1 ? "more than ±100 %" : fmt::format("±{:.2g} %", 100 * typical),
                                 history.runs, printable(history.since.substr(0, kDate)));
  if (without > 0) {
    text += fmt::format("; none at {} of {} points, of which it has fewer than {} runs", without, all,
                        kLeastKnownRuns);
  }
  return text + ".";
}

}  // namespace bench
