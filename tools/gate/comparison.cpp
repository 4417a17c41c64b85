// How often the comparison of runs raises a false alarm, and how often it finds a slowdown.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "noise.h"
#include "trial.h"

namespace {

using bench::gate::Count;
using bench::gate::Design;
using bench::gate::find_showable;
using bench::gate::NoiseModel;
using bench::gate::run_trial;
using bench::gate::Tally;
using bench::gate::Trial;

constexpr double kMostFalse = 0.01;
constexpr int kHistory = 10;        // runs, where a side has one
constexpr int kMostPairs = 14;      // of `bench ab`
constexpr double kRoundSd = 0.005;  // of the rows whose noise is mostly the runs'

std::vector<double> sds_between(double least, double most, int points) {
  std::vector<double> sds;
  for (int p = 0; p < points; ++p) {
    sds.push_back(least * std::pow(most / least, p / (points - 1.0)));
  }
  return sds;
}

// A run's median of ten rounds has 0.138 of a round's variance.
NoiseModel runs_of(std::string name, double sd) {
  constexpr double kOfMedian = 0.138;
  return {.name = std::move(name),
          .round_sd = kRoundSd,
          .run_sd = std::sqrt(sd * sd - kOfMedian * kRoundSd * kRoundSd)};
}

// Rows of the goal.
std::vector<NoiseModel> goal_rows() {
  using enum NoiseModel::Calibration;
  const NoiseModel half = runs_of("", 0.005);
  const auto shifted = [&](std::string name, NoiseModel::Calibration calibration) {
    NoiseModel model = half;
    model.name = std::move(name);
    model.shift_sd = 0.02;
    model.calibration = calibration;
    return model;
  };
  const auto drifting = [&](std::string name, bool in_turn) {
    NoiseModel model = half;
    model.name = std::move(name);
    model.drift = 0.05;
    model.calibration = shares;
    model.in_turn = in_turn;
    return model;
  };
  return {runs_of("iid, runs 1 %", 0.01),
          {.name = "iid, rounds 2.7 %", .round_sd = 0.027, .run_sd = 0},
          {.name = "lognormal runs and rounds", .round_sd = 0.005, .run_sd = 0.005, .lognormal = true},
          {.name = "AR(1) rounds, 0.8, 1 %", .round_sd = 0.01, .run_sd = 0, .phi = 0.8},
          {.name = "30 % slow rounds, +10 %", .run_sd = 0.003, .slow_share = 0.3},
          {.name = "points' sds 0.5 to 3 %", .run_sds = sds_between(0.005, 0.03, 20)},
          shifted("shift 2 %, calibration shares", shares),
          shifted("shift 2 %, calibration its own", independent),
          drifting("drift ±5 %, base first", false),
          drifting("drift ±5 %, in turn", true)};
}

// Harder than the goal asks.
std::vector<NoiseModel> stress_rows() {
  std::vector<double> one_noisy(20, 0.005);
  one_noisy[7] = 0.03;
  return {{.name = "one point 3 %, the rest 0.5 %", .run_sds = one_noisy},
          {.name = "2 % of runs' points +50 %",
           .run_sd = 0.005,
           .slow_share = 0.02,
           .slow_by = 0.5,
           .whole_runs = true},
          {.name = "15 % slow runs, +10 %", .run_sd = 0.003, .slow_share = 0.15, .whole_runs = true},
          {.name = "30 % slow runs, +10 %", .run_sd = 0.003, .slow_share = 0.3, .whole_runs = true},
          {.name = "AR(1) 0.8 across runs", .round_sd = 0.01, .run_sd = 0, .phi = 0.8, .carried = true},
          {.name = "the same, in turn",
           .round_sd = 0.01,
           .run_sd = 0,
           .phi = 0.8,
           .carried = true,
           .in_turn = true}};
}

std::vector<NoiseModel> recorded_rows(const std::string& file) {
  const auto recorded = std::make_shared<const bench::gate::RecordedRounds>(bench::gate::read_recorded(file));
  const std::string count = fmt::format("recorded rounds, {} points", recorded->points.size());
  return {{.name = count, .recorded = recorded},
          {.name = "the same, rounds kept together", .recorded = recorded, .together = true}};
}

struct Column {
  const char* name;
  Design design;
  bool looks = false;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all{{"1 run", {.runs = 1, .history = kHistory}},
                                       {"3 runs", {.runs = 3}},
                                       {"5 runs", {.runs = 5}},
                                       {"ab", {.runs = kMostPairs, .paired = true}, true}};
  return all;
}

std::string percent(double share) {
  return fmt::format("{:.2f}", 100 * share);
}

bool print_false_alarms(const std::vector<NoiseModel>& rows, std::int64_t suites) {
  bool met = true;
  fmt::print("| {:<32} |", "noise");
  for (const Column& column : columns()) {
    fmt::print(" {:<20} |", column.name);
  }
  fmt::print("\n| {:-<32} |", "");
  for ([[maybe_unused]] const Column& column : columns()) {
    fmt::print(" {:-<20} |", "");
  }
  fmt::print("\n");
  for (const NoiseModel& model : rows) {
    fmt::print("| {:<32} |", model.name);
    for (const Column& column : columns()) {
      const Tally tally =
          run_trial({.model = model, .design = column.design, .looks = column.looks, .suites = suites});
      met = met && tally.slower.share() <= kMostFalse;
      fmt::print(" {} (≤ {}), {} |", percent(tally.slower.share()), percent(tally.slower.upper()),
                 percent(tally.changed.share()));
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
  return met;
}

struct PowerGoal {
  NoiseModel model;
  int runs;
  double effect;
  double least;
  bool ab = false;
  double threshold = 0.03;
};

bool print_power(std::int64_t suites) {
  NoiseModel shifted = runs_of("shift 2 %, own 0.5 %", 0.005);
  shifted.shift_sd = 0.02;
  const std::vector<PowerGoal> goals{
      {runs_of("own 1 %", 0.01), 5, 0.035, 0.95},
      {runs_of("own 2 %", 0.02), 5, 0.07, 0.95},
      {runs_of("own 1 %", 0.01), 7, 0.03, 0.95},
      {runs_of("own 2 %", 0.02), 9, 0.05, 0.95},
      {shifted, 5, 0.03, 0.95},
      {runs_of("own 0.5 %, ab", 0.005), 10, 0.02, 0.95, true},
      {runs_of("own 0.5 %, ab, --threshold 1 %", 0.005), 10, 0.02, 0.95, true, 0.01}};
  bool met = true;
  fmt::print(
      "| noise                            | runs | slower by | slower, % | change sure, % | goal, % |\n"
      "| -------------------------------- | ---: | --------: | --------: | -------------: | ------: |\n");
  for (const PowerGoal& goal : goals) {
    const Tally tally = run_trial({.model = goal.model,
                                   .design = {.runs = goal.runs, .paired = goal.ab},
                                   .effects = {.one = std::log1p(goal.effect)},
                                   .options = {.threshold = goal.threshold},
                                   .looks = goal.ab,
                                   .suites = suites});
    met = met && tally.sure.share() >= goal.least;
    fmt::print("| {:<32} | {:>4} | {:>7.1f} % | {:>9.1f} | {:>14.1f} | {:>7.0f} |\n", goal.model.name,
               goal.ab ? fmt::format("{:.1f}", tally.pairs) : fmt::format("{}", goal.runs), 100 * goal.effect,
               100 * tally.found.share(), 100 * tally.sure.share(), 100 * goal.least);
  }
  return met;
}

// The rows' own power: what 5 runs a side print as the smallest change they can show, and whether they do.
bool print_showable(const std::vector<NoiseModel>& rows, std::int64_t suites) {
  constexpr double kLeast = 0.9;
  bool met = true;
  fmt::print(
      "| noise                            | +3.5 %, % | +7 %, % | smallest change, median | found, % |\n"
      "| -------------------------------- | --------: | ------: | ----------------------: | -------: |\n");
  for (const NoiseModel& model : rows) {
    const Trial trial{.model = model, .suites = suites};
    const auto power = [&](double effect) {
      Trial slowed = trial;
      slowed.effects.one = std::log1p(effect);
      return run_trial(slowed);
    };
    const Tally small = power(0.035);
    const Count found = find_showable(trial);
    met = met && found.share() >= kLeast;
    fmt::print("| {:<32} | {:>9.1f} | {:>7.1f} | {:>21.1f} % | {:>8.1f} |\n", model.name,
               100 * small.found.share(), 100 * power(0.07).found.share(),
               100 * small.smallest_changes.at(small.smallest_changes.size() / 2), 100 * found.share());
    std::fflush(stdout);
  }
  return met;
}

const char* met_or_not(bool met) {
  return met ? "met" : "not met";
}

}  // namespace

// comparison RESULT.json [SUITES]: the result's rounds are drawn from.
int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() < 2) {
    fmt::print(stderr, "usage: gate_comparison RESULT.json [SUITES]\n");
    return 2;
  }
  const std::int64_t suites =
      arguments.size() > 2 ? std::max(5L, std::strtol(arguments[2], nullptr, 10)) : 10'000;
  const std::int64_t slowed = suites / 5;  // a power near 95 % needs fewer than a rate near 1 %
  std::vector<NoiseModel> rows = goal_rows();
  const std::vector<NoiseModel> recorded = recorded_rows(arguments[1]);
  rows.insert(rows.end(), recorded.begin(), recorded.end());

  fmt::print(
      "False alarms: suites of 20 points without a change, % of {} in which one is called slower, its "
      "one-sided 95 % bound, and % with one called slower or faster. 1 run a side: with {} earlier runs.\n\n",
      suites, kHistory);
  const bool quiet = print_false_alarms(rows, suites);
  fmt::print("\nHarder than the goal asks:\n\n");
  print_false_alarms(stress_rows(), suites);
  fmt::print("\nPower: one point of 20 slowed, % of {} suites in which it is called slower.\n\n", slowed);
  const bool strong = print_power(slowed);
  fmt::print(
      "\nPower in each noise, 5 runs a side; the smallest change as printed, and how often it is found "
      "when injected into another suite.\n\n");
  const bool honest = print_showable(rows, slowed);
  fmt::print("\nAt most 1 % false alarms: {}. Power: {}. Smallest change found in 90 %: {}.\n",
             met_or_not(quiet), met_or_not(strong), met_or_not(honest));
  return quiet && strong && honest ? 0 : 1;
}
