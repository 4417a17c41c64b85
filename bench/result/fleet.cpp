#include "bench/result/fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::vector<double> known_of(std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double value) { return !std::isnan(value); });
  return known;
}

std::string start_of(const std::string& machine) {
  constexpr std::size_t kEnough = 6;
  return machine.substr(0, kEnough);
}

}  // namespace

std::string fleet_of(const ResultDocument& document) {
  const SweepDescription& sweep = document.sweep;
  const auto& device = document.context.device;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", sweep.name, sweep.workload, sweep.mode, device.kind,
                     device.name, to_line(sweep.workload_options),
                     document.context.workload_file ? document.context.workload_file->hash : "");
}

std::string host_of(const RunContext& context) {
  const auto host = context.google_benchmark.find("host_name");
  return host != context.google_benchmark.end() && host->is_string() && !host->get<std::string>().empty()
             ? host->get<std::string>()
             : "machine";
}

std::map<std::string, std::string> machine_names(std::span<const RunContext* const> contexts) {
  using Name = std::string (*)(const RunContext&);
  constexpr std::array<Name, 4> kNames{
      [](const RunContext& context) { return host_of(context); },
      [](const RunContext& context) { return fmt::format("{} {}", host_of(context), context.device.id); },
      [](const RunContext& context) {
        return fmt::format("{} {}", host_of(context), start_of(context.machine));
      },
      [](const RunContext& context) { return context.machine; }};
  std::map<std::string, std::string> names;
  for (const Name name : kNames) {
    names.clear();
    std::set<std::string> different;
    for (const RunContext* context : contexts) {
      if (!context->machine.empty() &&
          names.try_emplace(context->machine, printable(name(*context))).second) {
        different.insert(names[context->machine]);
      }
    }
    if (different.size() == names.size()) {
      break;
    }
  }
  return names;
}

std::vector<double> MachineTimes::distances() const {
  return shared_distances(levels);
}

std::vector<std::size_t> MachineTimes::ranked() const {
  const std::vector<double> far = distances();
  std::vector<std::size_t> order;
  for (std::size_t machine = 0; machine < far.size(); ++machine) {
    if (!std::isnan(far[machine])) {
      order.push_back(machine);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t machine) { return far[machine]; });
  return order;
}

std::optional<std::size_t> MachineTimes::median() const {
  const std::vector<std::size_t> order = ranked();
  return order.empty() ? std::nullopt : std::optional(order[order.size() / 2]);
}

std::vector<std::string> MachineTimes::outliers_in_words() const {
  return bench::outliers_in_words(levels, names);
}

namespace {

MachineTimes times_by_machine(const std::vector<const ResultDocument*>& documents) {
  MachineTimes times;
  std::vector<const RunContext*> contexts;
  std::map<std::string, std::map<std::string, std::vector<double>>> by_point;  // then by machine
  for (const ResultDocument* const document : documents) {
    const std::string& machine = document->context.machine;
    contexts.push_back(&document->context);
    if (std::ranges::find(times.machines, machine) == times.machines.end()) {
      times.machines.push_back(machine);
    }
    for (const Point& point : measured_points(*document)) {
      if (point.stats.median_ns > 0) {
        auto& of_point = by_point[point.name];
        if (of_point.empty()) {
          times.points.push_back(point.name);
        }
        of_point[machine].push_back(point.stats.median_ns);
      }
    }
  }
  for (const std::string& point : times.points) {
    std::vector<double>& level = times.levels.emplace_back();
    for (const std::string& machine : times.machines) {
      const auto found = by_point[point].find(machine);
      level.push_back(found == by_point[point].end() ? std::numeric_limits<double>::quiet_NaN()
                                                     : std::log(bench::median(found->second)));
    }
  }
  const std::map<std::string, std::string> names = machine_names(contexts);
  for (const std::string& machine : times.machines) {
    times.names.push_back(names.at(machine));
  }
  return times;
}

// A point as the machines timed it.
using TimedPoint = std::map<std::string, std::vector<const Point*>>;  // by machine

// Of an even number the slower of both.
const Point* middle_of(std::vector<const Point*> points) {
  std::ranges::stable_sort(points, {}, [](const Point* point) { return point->stats.median_ns; });
  return points[points.size() / 2];
}

Point pooled(const TimedPoint& machines, const std::string& median_machine) {
  std::vector<const Point*> middles;
  for (const auto& [machine, points] : machines) {
    middles.push_back(middle_of(points));
  }
  const auto own = machines.find(median_machine);
  Point point = own == machines.end() ? *middle_of(middles) : *middle_of(own->second);
  if (middles.size() < 2) {
    return point;
  }
  Interval range{.low = std::numeric_limits<double>::infinity(), .high = 0};
  for (const Point* const one : middles) {
    const Interval interval =
        one->stats.in_another_run().value_or(Interval{one->stats.median_ns, one->stats.median_ns});
    range = {std::min(range.low, interval.low), std::max(range.high, interval.high)};
    point.memory.peak_measured = std::max(point.memory.peak_measured, one->memory.peak_measured);
    point.memory.driver_used = std::max(point.memory.driver_used, one->memory.driver_used);
  }
  point.stats.ci95_between_ns = range;
  return point;
}

std::int64_t available_bytes(const DeviceInfo& device) {
  return device.available_bytes > 0 ? device.available_bytes : device.memory_bytes;
}

}  // namespace

ResultDocument Pool::document() const {
  const std::optional<std::size_t> middle = times.median();
  const std::string median_machine = middle ? times.machines[*middle] : documents.front()->context.machine;
  ResultDocument pooled_document = **std::ranges::find_if(
      documents, [&](const auto* one) { return one->context.machine == median_machine; });
  if (!is_fleet()) {
    return pooled_document;
  }
  std::map<std::string, TimedPoint> by_point;
  for (const ResultDocument* const document : documents) {
    for (const Point& point : measured_points(*document)) {
      if (point.stats.median_ns > 0) {
        by_point[point.name][document->context.machine].push_back(&point);
      }
    }
    std::int64_t& available = pooled_document.context.device.available_bytes;
    available =
        std::min(available_bytes(pooled_document.context.device), available_bytes(document->context.device));
  }
  std::vector<Point> points;
  for (const std::string& name : times.points) {
    points.push_back(pooled(by_point[name], median_machine));
  }
  std::ranges::copy(modelled_points(pooled_document), std::back_inserter(points));
  pooled_document.points = std::move(points);
  return pooled_document;
}

std::vector<Pool> pool(const std::vector<const ResultDocument*>& documents) {
  std::map<std::string, std::vector<const ResultDocument*>> by_fleet;
  const auto may_be_pooled = [](const ResultDocument& document) {
    return !is_predicted(document) && !document.context.machine.empty();
  };
  for (const ResultDocument* const document : documents) {
    if (may_be_pooled(*document)) {
      by_fleet[fleet_of(*document)].push_back(document);
    }
  }
  std::vector<Pool> pools;
  for (const ResultDocument* const document : documents) {
    const auto& fleet = by_fleet[may_be_pooled(*document) ? fleet_of(*document) : ""];
    const bool is_alone = std::ranges::all_of(fleet, [&](const ResultDocument* other) {
      return other->context.machine == document->context.machine;
    });
    if (is_alone) {
      pools.push_back({.documents = {document}});
    } else if (fleet.front() == document) {
      pools.push_back({.documents = fleet, .times = times_by_machine(fleet)});
    }
  }
  return pools;
}

std::vector<double> shared_distances(const std::vector<std::vector<double>>& rows) {
  const std::size_t machines = rows.empty() ? 0 : rows.front().size();
  std::vector<std::vector<double>> distances(machines);
  for (const std::vector<double>& row : rows) {
    const std::vector<double> known = known_of(row);
    for (std::size_t i = 0; i < machines && known.size() > 1; ++i) {
      if (!std::isnan(row[i])) {
        distances[i].push_back(row[i] - median(known));
      }
    }
  }
  std::vector<double> shared;
  for (const std::vector<double>& of_machine : distances) {
    shared.push_back(of_machine.empty() ? std::numeric_limits<double>::quiet_NaN() : median(of_machine));
  }
  return shared;
}

std::vector<std::size_t> outliers_of(std::span<const double> values, double least) {
  constexpr double kReach = 3.5;
  constexpr std::size_t kFewest = 4;
  std::vector<std::size_t> outliers;
  const std::vector<double> known = known_of(values);
  if (known.size() < kFewest) {
    return outliers;
  }
  const double center = median(known);
  const double reach = std::max(least, kReach * robust_deviation(known, center));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::abs(values[i] - center) > reach) {
      outliers.push_back(i);
    }
  }
  return outliers;
}

std::string longer_in_words(double log_ratio) {
  return fmt::format("{} {} than", format_percent(std::expm1(std::abs(log_ratio))),
                     log_ratio < 0 ? "less" : "longer");
}

std::vector<std::string> outliers_in_words(const std::vector<std::vector<double>>& rows,
                                           const std::vector<std::string>& names) {
  constexpr double kLeast = 0.03;  // as a comparison's threshold
  const std::vector<double> distances = shared_distances(rows);
  std::vector<std::string> sentences;
  for (const std::size_t i : outliers_of(distances, std::log1p(kLeast))) {
    sentences.push_back(fmt::format("{} is unlike the other machines: it takes {} the median machine.",
                                    names[i], longer_in_words(distances[i])));
  }
  return sentences;
}

}  // namespace bench
