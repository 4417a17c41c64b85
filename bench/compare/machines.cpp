#include "bench/compare/machines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/fleet.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

using Task = std::tuple<std::string, std::string, std::string, std::string>;

Task task_of(const ComparedRun& run) {
  return {run.sweep.name, run.sweep.workload, run.context.device.kind, run.context.device.name};
}

// Runs of one task, by machine; "" is the one of runs that name none.
using MachineRuns = std::map<std::string, BothSides<std::size_t>>;

bool has_both(const std::pair<const std::string, BothSides<std::size_t>>& machine) {
  return !machine.first.empty() && machine.second.base > 0 && machine.second.next > 0;
}

bool has_unnamed(const MachineRuns& machines) {
  return machines.contains("");
}

bool has_side(const MachineRuns& machines, Side side) {
  return std::ranges::any_of(machines, [&](const auto& machine) { return machine.second[side] > 0; });
}

std::string task_in_words(const Task& task) {
  return printable(fmt::format("{} of {}", std::get<0>(task), std::get<1>(task)));
}

std::string runs_in_words(std::size_t runs) {
  return fmt::format("{} run{}", runs, runs == 1 ? "" : "s");
}

// Pairs of observations that each machine of the suite gives.
std::size_t pairs_a_machine(const Suite& suite) {
  std::size_t pairs = std::numeric_limits<std::size_t>::max();
  for (const SuiteMachine& machine : suite.machines) {
    pairs = std::min({pairs, machine.runs.base.size(), machine.runs.next.size()});
  }
  return is_observation(suite.machines.size()) ? 1 : pairs;
}

// The runs of a point that the machine took.
MatchedPoint on_machine(const MatchedPoint& point, const SuiteMachine& machine) {
  MatchedPoint taken{.name = point.name, .runs = {}};
  for (const Side side : kSides) {
    for (const std::size_t run : machine.runs[side]) {
      taken.runs[side].push_back(point.runs[side][run]);
    }
  }
  return taken;
}

}  // namespace

void drop_unpaired_machines(BothSides<std::vector<ComparedRun>>& runs, std::vector<std::string>& notes) {
  std::map<Task, MachineRuns> tasks;
  std::vector<const RunContext*> contexts;
  for (const Side side : kSides) {
    for (const ComparedRun& run : runs[side]) {
      ++tasks[task_of(run)][run.context.machine][side];
      contexts.push_back(&run.context);
    }
  }
  const std::map<std::string, std::string> names = machine_names(contexts);
  std::set<std::pair<Task, std::string>> dropped;
  for (const auto& [task, machines] : tasks) {
    if (std::ranges::none_of(machines, has_both)) {
      if (!has_unnamed(machines) && has_side(machines, Side::base) && has_side(machines, Side::next)) {
        notes.push_back(
            fmt::format("No machine measured both sides of {}: the machines may make the difference",
                        task_in_words(task)));
      }
      continue;
    }
    for (const auto& machine : machines) {
      if (has_both(machine)) {
        continue;
      }
      const auto& [id, count] = machine;
      dropped.emplace(task, id);
      notes.push_back(id.empty() ? fmt::format("{} of {} that name no machine are left out",
                                               runs_in_words(count.base + count.next), task_in_words(task))
                                 : fmt::format("{} measured only {} of {} and is left out ({})", names.at(id),
                                               name_of(count.base > 0 ? Side::base : Side::next),
                                               task_in_words(task), runs_in_words(count.base + count.next)));
    }
  }
  for (const Side side : kSides) {
    std::erase_if(runs[side], [&](const ComparedRun& run) {
      return dropped.contains({task_of(run), run.context.machine});
    });
  }
}

std::vector<SuiteMachine> paired_machines(const Suite& suite) {
  std::vector<std::string> ids;
  std::vector<SuiteMachine> machines;
  std::vector<const RunContext*> contexts;
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < suite.runs[side].size(); ++i) {
      const RunContext& context = suite.runs[side][i]->context;
      contexts.push_back(&context);
      auto at = std::ranges::find(ids, context.machine);
      if (at == ids.end()) {
        machines.emplace_back();
        at = ids.insert(at, context.machine);
      }
      machines[static_cast<std::size_t>(at - ids.begin())].runs[side].push_back(i);
    }
  }
  const bool all_paired = std::ranges::all_of(machines, [](const SuiteMachine& machine) {
    return !machine.runs.base.empty() && !machine.runs.next.empty();
  });
  if (machines.size() < 2 || !all_paired || std::ranges::find(ids, "") != ids.end()) {
    return {};
  }
  const std::map<std::string, std::string> names = machine_names(contexts);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    machines[i].name = names.at(ids[i]);
  }
  return machines;
}

bool is_observation(std::size_t machines) {
  constexpr std::size_t kFewest = 4;
  return machines >= kFewest;
}

std::string incomparable_on_machine(const MatchedPoint& point, const SuiteMachine& machine) {
  const MatchedPoint taken = on_machine(point, machine);
  return has_metric(taken, Metric::time) ? disturbed_times(taken) : "no machine measured it on both sides";
}

std::string incomparable_times(const Suite& suite, const MatchedPoint& point) {
  if (suite.machines.empty()) {
    return incomparable_times(point);
  }
  std::string first;
  for (const SuiteMachine& machine : suite.machines) {
    const std::string why = incomparable_on_machine(point, machine);
    if (why.empty()) {
      return "";
    }
    first = first.empty() ? why : first;
  }
  return first;
}

RunsToCompare paired_by_machine(const Suite& suite, Metric metric, const std::vector<std::size_t>& points,
                                const std::string& calibration) {
  RunsToCompare pairs{.base = {}, .next = {}, .paired = true, .history = {}};
  const std::size_t count = pairs_a_machine(suite);
  for (const SuiteMachine& machine : suite.machines) {
    std::vector<bool> comparable;
    for (const std::size_t i : points) {
      comparable.push_back(incomparable_on_machine(suite.points[i], machine).empty());
    }
    for (std::size_t pair = 0; pair < count; ++pair) {
      for (const Side side : kSides) {
        RunLevels& levels = (side == Side::base ? pairs.base : pairs.next).emplace_back();
        // The pair's share of the runs: every count-th.
        const auto median_over_runs = [&](const auto& value_of_run) {
          std::vector<double> known;
          for (std::size_t i = pair; i < machine.runs[side].size(); i += count) {
            if (const double value = value_of_run(machine.runs[side][i]); !std::isnan(value)) {
              known.push_back(value);
            }
          }
          return known.empty() ? std::numeric_limits<double>::quiet_NaN() : median(known);
        };
        for (std::size_t i = 0; i < points.size(); ++i) {
          const auto& runs = suite.points[points[i]].runs[side];
          levels.points.push_back(
              comparable[i] ? median_over_runs([&](std::size_t run) { return level_of(runs[run], metric); })
                            : std::numeric_limits<double>::quiet_NaN());
        }
        if (!calibration.empty()) {
          levels.calibration = median_over_runs(
              [&](std::size_t run) { return suite.runs[side][run]->calibrations.at(calibration); });
        }
      }
    }
  }
  return pairs;
}

MachineChanges changes_by_machine(const Suite& suite, const MatchedPoint& point, Metric metric) {
  MachineChanges changes;
  std::vector<double> base;
  std::vector<double> known;
  for (const SuiteMachine& machine : suite.machines) {
    const MatchedPoint taken = on_machine(point, machine);
    changes.change.push_back(std::numeric_limits<double>::quiet_NaN());
    if (!has_metric(taken, metric) || !incomparable_on_machine(point, machine).empty()) {
      continue;
    }
    BothSides<std::vector<double>> levels;
    for (const Side side : kSides) {
      for (const RunPoint* run : taken.runs[side]) {
        if (const double level = level_of(run, metric); !std::isnan(level)) {
          levels[side].push_back(level);
        }
      }
    }
    base.push_back(median(levels.base));
    known.push_back(median(levels.next) - base.back());
    changes.change.back() = known.back();
  }
  if (!known.empty()) {
    changes.base = value_of_level(median(base), metric);
    changes.next = value_of_level(median(base) + median(known), metric);
  }
  return changes;
}

MetricChange compare_bytes(const Suite& suite, const MatchedPoint& point, Metric metric, double threshold) {
  if (suite.machines.empty()) {
    return compare_bytes(point, metric, threshold);
  }
  std::vector<double> base;
  std::vector<double> next;
  std::set<Verdict> verdicts;
  for (const SuiteMachine& machine : suite.machines) {
    const MatchedPoint taken = on_machine(point, machine);
    if (values_of(taken, Side::base, metric).empty() || values_of(taken, Side::next, metric).empty()) {
      continue;
    }
    const MetricChange change = compare_bytes(taken, metric, threshold);
    base.push_back(change.base);
    next.push_back(change.next);
    verdicts.insert(change.verdict);
  }
  if (base.empty()) {  // other machines measured BASE's point than NEW's
    return compare_bytes(point, metric, threshold);
  }
  return {.metric = metric,
          .verdict = verdicts.size() == 1 ? *verdicts.begin() : Verdict::same,
          .base = median(base),
          .next = median(next)};
}

}  // namespace bench
