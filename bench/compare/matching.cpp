#include "bench/compare/matching.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/machines.h"
#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Without the runs that are there twice, each named in a note.
std::vector<ComparedRun> each_once(std::vector<ComparedRun> runs, Side side,
                                   std::vector<std::string>& notes) {
  std::vector<ComparedRun> once;
  for (ComparedRun& run : runs) {
    const auto same = std::ranges::find(once, run.identity, &ComparedRun::identity);
    if (same == once.end()) {
      once.push_back(std::move(run));
    } else {
      notes.push_back(
          fmt::format("{}: {} is the same run as {} and counts once", name_of(side), run.path, same->path));
    }
  }
  return once;
}

// A run on both sides tells nothing about their difference.
void drop_shared(Matching& matching) {
  std::set<std::string> shared;
  for (const ComparedRun& run : matching.runs.base) {
    const auto same = std::ranges::find(matching.runs.next, run.identity, &ComparedRun::identity);
    if (same != matching.runs.next.end()) {
      shared.insert(run.identity);
      matching.notes.push_back(
          run.path == same->path ? fmt::format("{} is on both sides and is left out", run.path)
                                 : fmt::format("{} and {} are the same run, on both sides, and are left out",
                                               run.path, same->path));
    }
  }
  for (const Side side : kSides) {
    std::erase_if(matching.runs[side], [&](const ComparedRun& run) { return shared.contains(run.identity); });
    if (matching.runs[side].empty()) {
      throw NotComparable(fmt::format("{} has no run left to compare: {}; give another run", name_of(side),
                                      fmt::join(matching.notes, "; ")));
    }
  }
}

// A processor is told by the cores that a run may use. How many of them it took, OMP_NUM_THREADS, is a fact
// of its session, and a difference to compare; a file without sessions knows only how many it took.
int units_of(const ComparedRun& run) {
  const int usable = run.context.host.usable_cores;
  return run.context.device.kind == "cpu" && usable > 0 && !run.sessions.empty()
             ? usable
             : run.context.device.compute_units;
}

// Sorts the runs into suites. Devices of one name are one, wherever they are plugged in.
std::vector<Suite> suites_of(const Matching& matching, const AllowedDifferences& allowed) {
  std::vector<Suite> suites;
  for (const Side side : kSides) {
    for (const ComparedRun& run : matching.runs[side]) {
      const auto fits = [&](const Suite& suite) {
        if (suite.sweep != run.sweep.name || suite.workload != run.sweep.workload) {
          return false;
        }
        const ComparedRun& first =
            suite.runs.base.empty() ? *suite.runs.next.front() : *suite.runs.base.front();
        return allowed.device || device_difference(first, run).empty();
      };
      auto suite = std::ranges::find_if(suites, fits);
      if (suite == suites.end()) {
        suites.push_back({.sweep = run.sweep.name,
                          .workload = run.sweep.workload,
                          .device = run.context.device.name,
                          .runs = {},
                          .machines = {},
                          .points = {},
                          .unmatched = {}});
        suite = suites.end() - 1;
      }
      suite->runs[side].push_back(&run);
    }
  }
  return suites;
}

// The other side ran the same sweep and workload, but on another device.
void refuse_other_devices(const std::vector<Suite>& suites) {
  for (const Suite& suite : suites) {
    for (const Suite& other : suites) {
      if (suite.runs.next.empty() && other.runs.base.empty() && suite.sweep == other.sweep &&
          suite.workload == other.workload) {
        throw NotComparable(
            fmt::format("BASE and NEW ran on different devices, {}; compare runs of one device, or give "
                        "--allow-different "
                        "device",
                        device_difference(*suite.runs.base.front(), *other.runs.next.front())));
      }
    }
  }
}

// A file of the same name was read on both sides, but what it describes is not the same.
void refuse_other_graphs(const std::vector<Suite>& suites) {
  for (const Suite& suite : suites) {
    for (const Suite& other : suites) {
      if (!suite.runs.next.empty() || !other.runs.base.empty() || suite.sweep != other.sweep) {
        continue;
      }
      const auto& base = suite.runs.base.front()->context.workload_file;
      const auto& next = other.runs.next.front()->context.workload_file;
      if (base && next && base->name == next->name && base->hash != next->hash) {
        throw NotComparable(
            fmt::format("the graph of {} differs between BASE ({}) and NEW ({}); compare runs of one graph",
                        quote(base->name), printable(base->hash), printable(next->hash)));
      }
    }
  }
}

using ByName = std::unordered_map<std::string_view, std::vector<const RunPoint*>>;

ByName measured_by_name(const std::vector<const ComparedRun*>& runs) {
  ByName points;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const RunPoint& point : runs[i]->points) {
      std::vector<const RunPoint*>& of_runs = points[point.name];
      of_runs.resize(runs.size(), nullptr);
      of_runs[i] = &point;
    }
  }
  return points;
}

// The first of each name, by status.
std::map<std::string, std::unordered_map<std::string_view, const UnmeasuredPoint*>> unmeasured_by_status(
    const std::vector<const ComparedRun*>& runs) {
  std::map<std::string, std::unordered_map<std::string_view, const UnmeasuredPoint*>> points;
  for (const ComparedRun* run : runs) {
    for (const UnmeasuredPoint& point : run->unmeasured) {
      points[point.status].try_emplace(point.name, &point);
    }
  }
  return points;
}

void refuse_other_params(const MatchedPoint& point, const Suite& suite) {
  const RunPoint* first = nullptr;
  const ComparedRun* first_run = nullptr;
  for (const Side side : kSides) {
    for (std::size_t i = 0; i < point.runs[side].size(); ++i) {
      const RunPoint* const run = point.runs[side][i];
      if (run == nullptr) {
        continue;
      }
      if (first == nullptr) {
        first = run;
        first_run = suite.runs[side][i];
      }
      if (const auto differs = params_difference(first->params, run->params)) {
        throw NotComparable(fmt::format(
            "{} has other params in {} and {} ({} {} and {}); compare runs of the same options, or "
            "give --allow-different params",
            quote(point.name), first_run->path, suite.runs[side][i]->path, differs->key, differs->one,
            differs->other));
      }
    }
  }
}

void match_points(Suite& suite, const AllowedDifferences& allowed) {
  const BothSides<ByName> measured{measured_by_name(suite.runs.base), measured_by_name(suite.runs.next)};
  const BothSides<decltype(unmeasured_by_status({}))> unmeasured{unmeasured_by_status(suite.runs.base),
                                                                 unmeasured_by_status(suite.runs.next)};
  const auto has = [&](Side side, const char* status, const std::string& name) -> const UnmeasuredPoint* {
    const auto of_status = unmeasured[side].find(status);
    if (of_status == unmeasured[side].end()) {
      return nullptr;
    }
    const auto found = of_status->second.find(name);
    return found == of_status->second.end() ? nullptr : found->second;
  };
  std::unordered_set<std::string_view> seen;
  using Kind = UnmatchedPoint::Kind;
  // In the order of the files, so that the output does not depend on a hash.
  for (const ComparedRun* run : suite.runs.base) {
    for (const RunPoint& point : run->points) {
      if (!seen.insert(point.name).second) {
        continue;
      }
      const auto next = measured.next.find(point.name);
      if (const UnmeasuredPoint* oom = has(Side::next, "oom", point.name);
          oom && !has(Side::base, "oom", point.name)) {
        suite.unmatched.push_back({.kind = Kind::oom, .name = point.name, .reason = oom->reason});
      } else if (const UnmeasuredPoint* error = has(Side::next, "error", point.name);
                 error && !has(Side::base, "error", point.name)) {
        suite.unmatched.push_back({.kind = Kind::failing, .name = point.name, .reason = error->reason});
      } else if (next == measured.next.end()) {
        const UnmeasuredPoint* const left_out = has(Side::next, "skipped", point.name);
        const UnmeasuredPoint* const unmeasured_point =
            left_out != nullptr ? left_out : has(Side::next, "unsupported", point.name);
        suite.unmatched.push_back(
            {.kind = left_out != nullptr ? Kind::left_out : Kind::missing,
             .name = point.name,
             .reason = unmeasured_point == nullptr
                           ? "not in NEW's files"
                           : fmt::format("{}: {}", unmeasured_point->status, unmeasured_point->reason)});
      }
      if (next != measured.next.end()) {
        suite.points.push_back({.name = point.name, .runs = {measured.base.at(point.name), next->second}});
        if (!allowed.params) {
          refuse_other_params(suite.points.back(), suite);
        }
      }
    }
  }
  for (const ComparedRun* run : suite.runs.next) {
    for (const RunPoint& point : run->points) {
      if (seen.insert(point.name).second) {
        suite.unmatched.push_back({.kind = Kind::added, .name = point.name});
      }
    }
  }
}

// A file without a point tells nothing, and is easily overlooked among others.
void note_empty_runs(Matching& matching) {
  for (const Side side : kSides) {
    for (const ComparedRun& run : matching.runs[side]) {
      if (run.points.empty()) {
        matching.notes.push_back(fmt::format("{}: {} has no measured point", name_of(side), run.path));
      }
    }
  }
}

// Why no point was measured on both sides: NEW's all failed, or the runs are of different sweeps.
std::string nothing_to_compare(const Matching& matching) {
  constexpr std::size_t kLongestReason = 300;
  using Kind = UnmatchedPoint::Kind;
  static const std::map<Kind, std::string> kWhy{
      {Kind::failing, "failed: "}, {Kind::oom, "ran out of memory: "}, {Kind::left_out, "was "}};
  for (const Suite& suite : matching.suites) {
    for (const UnmatchedPoint& point : suite.unmatched) {
      if (const auto why = kWhy.find(point.kind); why != kWhy.end()) {
        return fmt::format("NEW measured none of BASE's points; {} {}{}", quote(point.name), why->second,
                           printable(point.reason, kLongestReason));
      }
    }
  }
  for (const Side side : kSides) {
    const std::vector<ComparedRun>& runs = matching.runs[side];
    if (std::ranges::all_of(runs, [](const ComparedRun& run) { return run.points.empty(); })) {
      const auto failed =
          std::ranges::find_if(runs, [](const ComparedRun& run) { return !run.unmeasured.empty(); });
      std::string why;
      if (failed != runs.end()) {
        const UnmeasuredPoint& first = failed->unmeasured.front();
        why = fmt::format(" ({}: {}, {})", quote(first.name), printable(first.status),
                          printable(first.reason, kLongestReason));
      }
      return fmt::format("{} has no measured point{}; give a run that measured some", name_of(side), why);
    }
  }
  const auto first = [&](Side side) {
    const auto measured =
        std::ranges::find_if(matching.runs[side], [](const ComparedRun& run) { return !run.points.empty(); });
    return quote(measured->points.front().name);
  };
  return fmt::format(
      "no point was measured on both sides (BASE has {}, NEW {}); give runs of the same sweep and options",
      first(Side::base), first(Side::next));
}

}  // namespace

const char* name_of(Side side) {
  return side == Side::base ? "BASE" : "NEW";
}

std::size_t Matching::points() const {
  std::size_t points = 0;
  for (const Suite& suite : suites) {
    points += suite.points.size();
  }
  return points;
}

std::string device_difference(const ComparedRun& one, const ComparedRun& other) {
  const DeviceInfo& a = one.context.device;
  const DeviceInfo& b = other.context.device;
  if (std::tie(a.kind, a.name) != std::tie(b.kind, b.name)) {
    return fmt::format("{} ({}) and {} ({})", quote(a.name), printable(a.kind), quote(b.name),
                       printable(b.kind));
  }
  if (units_of(one) != units_of(other)) {
    return fmt::format("{} with {} and with {} {}", quote(a.name), units_of(one), units_of(other),
                       a.kind == "cpu" ? "cores" : "multiprocessors");
  }
  // Drivers and kernels keep a little of it for themselves, not always the same.
  constexpr double kSameMemory = 0.9;
  const auto [least, most] = std::minmax(a.memory_bytes, b.memory_bytes);
  if (static_cast<double>(least) < kSameMemory * static_cast<double>(most)) {
    return fmt::format("{} with {} and with {}", quote(a.name), format_bytes(a.memory_bytes),
                       format_bytes(b.memory_bytes));
  }
  return "";
}

std::optional<ParamsDifference> params_difference(const Json& one, const Json& other) {
  if (!one.is_object() || !other.is_object()) {
    return one == other ? std::nullopt
                        : std::optional(ParamsDifference{"params", "of one type", "of another"});
  }
  const auto text = [](const Json& params, const std::string& key) {
    const auto found = params.find(key);
    return found == params.end() ? std::string("none")
                                 : printable(found->dump(-1, ' ', false, Json::error_handler_t::replace));
  };
  for (const Json* const params : {&one, &other}) {
    for (const auto& [key, value] : params->items()) {
      const auto in_one = one.find(key);
      const auto in_other = other.find(key);
      if (in_one == one.end() || in_other == other.end() || *in_one != *in_other) {
        return ParamsDifference{printable(key), text(one, key), text(other, key)};
      }
    }
  }
  return std::nullopt;
}

Matching match_runs(std::vector<ComparedRun> base, std::vector<ComparedRun> next,
                    const AllowedDifferences& allowed) {
  Matching matching;
  matching.runs.base = each_once(std::move(base), Side::base, matching.notes);
  matching.runs.next = each_once(std::move(next), Side::next, matching.notes);
  drop_shared(matching);
  drop_unpaired_machines(matching.runs, matching.notes);
  note_empty_runs(matching);
  matching.suites = suites_of(matching, allowed);
  refuse_other_devices(matching.suites);
  refuse_other_graphs(matching.suites);
  for (Suite& suite : matching.suites) {
    suite.machines = paired_machines(suite);
    match_points(suite, allowed);
  }
  if (matching.points() == 0) {
    throw NotComparable(nothing_to_compare(matching));
  }
  return matching;
}

}  // namespace bench
