// How often the stop rule calls a point precise whose interval misses the truth.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stopping.h"

namespace {

using bench::gate::PointNoise;
using bench::gate::StopTally;

constexpr double kGoal = 0.05;  // at most, of all trials

bool print_rows(const std::vector<PointNoise>& rows, std::int64_t trials, bool all) {
  bool met = true;
  for (const PointNoise& noise : rows) {
    const StopTally tally = bench::gate::run_stop_trials(noise, trials, 1);
    const bool in_goal = tally.wrong.upper() <= kGoal;
    met = met && in_goal;
    if (all || tally.wrong.share() > kGoal / 2) {
      fmt::print("| {:<36} | {:>3} | {:>5.1f} % | {:>5.2f} % | {:>5.2f} % | {:>5.1f} | {}{:>7} |\n",
                 noise.name, noise.most_rounds, 100 * tally.precise.share(), 100 * tally.wrong.share(),
                 100 * tally.wrong.upper(), tally.rounds, in_goal ? "" : "! ",
                 tally.covered.of == 0 ? "–" : fmt::format("{:.1f} %", 100 * tally.covered.share()));
    }
  }
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::int64_t trials =
      arguments.size() > 1 ? std::max(1L, std::strtol(arguments[1], nullptr, 10)) : 2000;
  fmt::print(
      "Stop rule, {} points a row. Wrong: called precise, and the interval misses the true median, of all "
      "points "
      "(goal: at most 5 %). Upper: one-sided 95 % bound. The last column: of the other points, those whose "
      "95 % "
      "interval holds it.\n\n"
      "| {:<36} | to  | precise | wrong   | upper   | rounds | others  |\n"
      "| {:-<36} | --: | ------: | ------: | ------: | -----: | ------: |\n",
      trials, "noise", "");
  const bool goals = print_rows(bench::gate::goal_rows(), trials, true);
  fmt::print("\nOf {} neighbouring rows, those with more than 2.5 %:\n\n",
             bench::gate::neighbour_rows().size());
  const bool neighbours = print_rows(bench::gate::neighbour_rows(), trials, false);
  fmt::print("\nAt most 5 %: {} in the rows above, {} in their neighbours.\n", goals ? "met" : "not met",
             neighbours ? "met" : "not met");
  return goals ? 0 : 1;
}
