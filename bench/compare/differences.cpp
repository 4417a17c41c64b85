#include "bench/compare/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

using Facts = std::map<std::string, std::string>;

// A run that --resume went on with may be of several builds and boots: each value once, in order.
std::map<std::string, std::vector<std::string>> facts_of_sessions(const std::vector<Session>& sessions) {
  constexpr std::size_t kLongestBuild = 12;
  std::map<std::string, std::vector<std::string>> facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    std::vector<std::string>& known = facts[name];
    if (!value.empty() && std::ranges::find(known, value) == known.end()) {
      known.push_back(value);
    }
  };
  for (const Session& session : sessions) {
    add("kernel", session.kernel);
    add("governor", session.governor);
    add("build", printable(session.build, kLongestBuild));
    for (const auto& [name, value] : session.threads) {
      add(name, value);
    }
  }
  return facts;
}

// The facts of one run, by the name that a reader knows. Those that change from run to run by themselves are
// left out.
Facts facts_of(const ComparedRun& run) {
  Facts facts;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) {
      facts[printable(name)] = printable(value);
    }
  };
  const RunContext& context = run.context;
  for (const auto& [name, value] : context.software) {
    add(name, value);
  }
  for (const auto& [name, value] : context.device.details) {
    add(name, value);
  }
  add("host", context.host.cpu);
  add("usable cores", context.host.usable_cores > 0 ? std::to_string(context.host.usable_cores) : "");
  add("CPU quota", context.host.cpu_quota ? format_number(*context.host.cpu_quota) : "");
  add("seed", std::to_string(context.seed));
  for (const auto& [name, value] : run.sweep.workload_options) {
    add("--" + name, value);
  }
  for (const auto& [name, value] : run.sweep.sweep_options.value_or(std::map<std::string, std::string>{})) {
    add("--" + name, value);
  }
  for (const auto& [name, values] : facts_of_sessions(run.sessions)) {
    add(name, fmt::format("{}", fmt::join(values, " and ")));
  }
  return facts;
}

// What changes the times by itself comes first, what is different in every comparison of two builds last.
int rank_of(std::string_view fact) {
  constexpr std::array<std::string_view, 5> kMachine{"host", "kernel", "governor", "seed", "usable cores"};
  constexpr std::array<std::string_view, 4> kBuild{"bench", "build", "compiler", "git"};
  return std::ranges::find(kBuild, fact) != kBuild.end()       ? 2
         : std::ranges::find(kMachine, fact) != kMachine.end() ? 1
                                                               : 0;
}

std::string joined(const std::set<std::string>& values) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> shown;
  for (const std::string& value : values) {
    if (shown.size() == kMost) {
      shown.push_back(fmt::format("{} more", values.size() - kMost));
      break;
    }
    shown.push_back(value);
  }
  return shown.empty() ? "none" : fmt::format("{}", fmt::join(shown, ", "));
}

using FactValues = std::map<std::string, BothSides<std::set<std::string>>>;

// Facts whose values are not one and the same in all runs of both sides.
FactValues differing_facts(const BothSides<std::vector<const ComparedRun*>>& runs) {
  FactValues values;
  std::map<std::string, BothSides<std::size_t>> known;
  for (const Side side : kSides) {
    for (const ComparedRun* run : runs[side]) {
      for (const auto& [name, value] : facts_of(*run)) {
        values[name][side].insert(value);
        ++known[name][side];
      }
    }
  }
  for (auto& [name, of_sides] : values) {
    for (const Side side : kSides) {
      if (known[name][side] > 0 && known[name][side] < runs[side].size()) {
        of_sides[side].insert("none");
      }
    }
  }
  std::erase_if(values, [](const auto& fact) {
    const auto& [name, of_sides] = fact;
    return of_sides.base == of_sides.next && of_sides.base.size() <= 1;
  });
  return values;
}

// Machines that are compared with themselves may differ from each other.
std::vector<Difference> differing_facts(const Matching& matching) {
  std::map<const ComparedRun*, std::string> machines;
  for (const Suite& suite : matching.suites) {
    for (const Side side : kSides) {
      for (const ComparedRun* run : suite.runs[side]) {
        machines[run] = suite.machines.empty() ? "" : run->context.machine;
      }
    }
  }
  std::map<std::string, BothSides<std::vector<const ComparedRun*>>> by_machine;
  for (const Side side : kSides) {
    for (const ComparedRun& run : matching.runs[side]) {
      by_machine[machines[&run]][side].push_back(&run);
    }
  }
  FactValues values;
  for (const auto& [machine, runs] : by_machine) {
    for (const auto& [name, of_sides] : differing_facts(runs)) {
      for (const Side side : kSides) {
        values[name][side].insert(of_sides[side].begin(), of_sides[side].end());
      }
    }
  }
  std::vector<Difference> differences;
  for (const auto& [name, of_sides] : values) {
    differences.push_back({.what = name, .base = joined(of_sides.base), .next = joined(of_sides.next)});
  }
  std::ranges::stable_sort(differences, {}, [](const Difference& one) { return rank_of(one.what); });
  return differences;
}

// Devices that --allow-different puts into one suite.
void add_devices(const Matching& matching, std::vector<Difference>& differences) {
  for (const Suite& suite : matching.suites) {
    if (suite.runs.base.empty() || suite.runs.next.empty()) {
      continue;
    }
    BothSides<std::set<std::string>> names;
    BothSides<std::set<std::string>> sizes;
    for (const Side side : kSides) {
      for (const ComparedRun* run : suite.runs[side]) {
        const DeviceInfo& device = run->context.device;
        names[side].insert(printable(device.name));
        sizes[side].insert(fmt::format("{} of {} units and {}", printable(device.name), device.compute_units,
                                       format_bytes(device.memory_bytes)));
      }
    }
    if (names.base != names.next) {
      differences.push_back({.what = "device", .base = joined(names.base), .next = joined(names.next)});
    } else if (!device_difference(*suite.runs.base.front(), *suite.runs.next.front()).empty()) {
      differences.push_back({.what = "device", .base = joined(sizes.base), .next = joined(sizes.next)});
    }
  }
}

// Params that --allow-different lets through: the first point's, and how many more there are.
void add_params(const Matching& matching, std::vector<Difference>& differences) {
  std::size_t points = 0;
  Difference first;
  for (const Suite& suite : matching.suites) {
    for (const MatchedPoint& point : suite.points) {
      const auto params = [&](Side side) -> const Json& {
        return (*std::ranges::find_if(point.runs[side], [](const RunPoint* run) { return run != nullptr; }))
            ->params;
      };
      const std::optional<ParamsDifference> other = params_difference(params(Side::base), params(Side::next));
      if (other && ++points == 1) {
        first = {.what = fmt::format("{} of {}", other->key, printable(point.name)),
                 .base = other->one,
                 .next = other->other};
      }
    }
  }
  if (points > 0) {
    first.what += points > 1 ? fmt::format(" and {} more", points - 1) : "";
    differences.push_back(first);
  }
}

// The device's clock, where it is not about the same on both sides.
void add_clocks(const Matching& matching, std::vector<Difference>& differences) {
  constexpr double kAbout = 0.02;
  for (const Suite& suite : matching.suites) {
    BothSides<std::vector<double>> clocks;
    for (const Side side : kSides) {
      for (const ComparedRun* run : suite.runs[side]) {
        if (run->clock_mhz) {
          clocks[side].push_back(*run->clock_mhz);
        }
      }
    }
    if (clocks.base.empty() || clocks.next.empty()) {
      continue;
    }
    const double base = median(clocks.base);
    const double next = median(clocks.next);
    if (std::abs(next - base) > kAbout * base) {
      differences.push_back({.what = "median clock",
                             .base = fmt::format("{:.0f} MHz", base),
                             .next = fmt::format("{:.0f} MHz", next)});
    }
  }
}

std::set<std::string> values_of(const MatchedPoint& point, Side side,
                                const std::function<std::string(const RunPoint&)>& fact) {
  std::set<std::string> values;
  for (const RunPoint* run : point.runs[side]) {
    if (run != nullptr) {
      values.insert(fact(*run));
    }
  }
  return values;
}

// Work of a step, of which a change is another network, batch or kernel choice: named once, with the number
// of points.
void add_work(const Matching& matching, std::vector<Difference>& differences) {
  struct Fact {
    std::string_view what;
    std::function<std::string(const RunPoint&)> value;
  };
  const std::array<Fact, 4> facts{
      Fact{"floating-point operations a step", [](const RunPoint& p) { return format_number(p.work.flops); }},
      Fact{"bytes a step",
           [](const RunPoint& p) { return format_number(p.work.fixed_bytes + p.work.sample_bytes); }},
      Fact{"kernels a step", [](const RunPoint& p) { return std::to_string(p.work.launches); }},
      Fact{"samples a step", [](const RunPoint& p) { return format_number(p.items_per_step); }}};
  for (const Fact& fact : facts) {
    std::size_t points = 0;
    Difference first;
    for (const Suite& suite : matching.suites) {
      for (const MatchedPoint& point : suite.points) {
        const auto base = values_of(point, Side::base, fact.value);
        const auto next = values_of(point, Side::next, fact.value);
        if (base != next && ++points == 1) {
          first = {.what = printable(point.name), .base = joined(base), .next = joined(next)};
        }
      }
    }
    if (points > 0) {
      first.what = fmt::format("{} of {}{}", fact.what, first.what,
                               points > 1 ? fmt::format(" and {} more", points - 1) : "");
      differences.push_back(first);
    }
  }
}

using Choices = std::set<Algorithms>;

Choices choices_of(const MatchedPoint& point, Side side) {
  Choices choices;
  for (const RunPoint* run : point.runs[side]) {
    if (run != nullptr) {
      choices.insert(run->algorithms);
    }
  }
  return choices;
}

// The entries of `choices` that are in none of `others`: "3 brgconv:avx2 + 1 jit:avx2".
std::string added_in_words(const Choices& choices, const Choices& others) {
  std::set<std::string> added;
  for (const Algorithms& choice : choices) {
    for (const auto& [name, count] : choice) {
      const bool known = std::ranges::any_of(others, [&](const Algorithms& other) {
        const auto found = other.find(name);
        return found != other.end() && found->second == count;
      });
      if (!known) {
        added.insert(fmt::format("{} {}", count, printable(name)));
      }
    }
  }
  return added.empty() ? "none" : fmt::format("{}", fmt::join(added, " + "));
}

// Names the first point whose operations run other implementations, and how many more there are. Points whose
// file does not name implementations are passed over.
void add_algorithms(const Matching& matching, std::vector<Difference>& differences) {
  std::size_t points = 0;
  Difference first;
  for (const Suite& suite : matching.suites) {
    for (const MatchedPoint& point : suite.points) {
      const Choices base = choices_of(point, Side::base);
      const Choices next = choices_of(point, Side::next);
      const bool all_known = !base.contains(Algorithms{}) && !next.contains(Algorithms{});
      if (all_known && base != next && ++points == 1) {
        first = {.what = printable(point.name),
                 .base = printable(added_in_words(base, next), 3 * kLongestQuote),
                 .next = printable(added_in_words(next, base), 3 * kLongestQuote)};
      }
    }
  }
  if (points > 0) {
    first.what = fmt::format("algorithms of {}{}", first.what,
                             points > 1 ? fmt::format(" and {} more", points - 1) : "");
    first.is_detail = true;
    differences.push_back(first);
  }
}

}  // namespace

std::vector<Difference> differences_of(const Matching& matching) {
  std::vector<Difference> differences;
  add_devices(matching, differences);
  add_params(matching, differences);
  const std::vector<Difference> facts = differing_facts(matching);
  const auto minor =
      std::ranges::find_if(facts, [](const Difference& fact) { return rank_of(fact.what) > 0; });
  differences.insert(differences.end(), facts.begin(), minor);
  add_clocks(matching, differences);
  add_algorithms(matching, differences);
  add_work(matching, differences);
  differences.insert(differences.end(), minor, facts.end());
  return differences;
}

bool same_driver(const Suite& suite) {
  constexpr std::array<std::string_view, 2> kBelowTheKernels{"driver", "cuda"};
  for (const std::string_view name : kBelowTheKernels) {
    std::set<std::string> versions;
    for (const Side side : kSides) {
      for (const ComparedRun* run : suite.runs[side]) {
        const auto found = run->context.software.find(std::string(name));
        versions.insert(found == run->context.software.end() ? "" : found->second);
      }
    }
    if (versions.size() > 1) {
      return false;
    }
  }
  return true;
}

}  // namespace bench
