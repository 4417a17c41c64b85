#include "bench/evaluate/evaluated_fleet.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/result/fleet.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

// A machine's points in one dtype and batch; more than one where it measured them again.
using PointsOfMachines = std::map<std::string, std::vector<CurvePoint>>;
using PointKey = std::pair<std::string, std::int64_t>;

CurvePoint middle_of(std::vector<CurvePoint> points) {
  std::ranges::sort(points, {}, &CurvePoint::per_s);
  return points[(points.size() - 1) / 2];
}

void reach(Interval& interval, const Interval& other) {
  interval = {std::min(interval.low, other.low), std::max(interval.high, other.high)};
}

CurvePoint joined(const PointsOfMachines& machines) {
  std::vector<CurvePoint> points;
  for (const auto& [machine, measured] : machines) {
    points.push_back(middle_of(measured));
  }
  CurvePoint middle = middle_of(points);
  if (points.size() < 2) {
    return middle;
  }
  middle.interval = {.low = std::numeric_limits<double>::infinity(), .high = 0};
  for (const CurvePoint& point : points) {
    const Interval own = point.interval.value_or(Interval{point.per_s, point.per_s});
    reach(*middle.interval, own);
    middle.bytes = std::max(middle.bytes, point.bytes);
    if (middle.cards && point.cards) {
      reach(middle.cards->step80_ns, point.cards->step80_ns);
      reach(middle.cards->slowdown80, point.cards->slowdown80);
      middle.cards->at_least = middle.cards->at_least || point.cards->at_least;
      middle.cards->peak = std::max(middle.cards->peak, point.cards->peak);
    }
  }
  middle.step.deviation = log_deviation(*middle.interval, kNormal95);
  return middle;
}

class Fleet {
 public:
  explicit Fleet(EvaluatedDevice first) : joined_(std::move(first)) {
    joined_.files.clear();
    joined_.caveats.clear();
  }

  bool takes(const EvaluatedDevice& device) const {
    return !device.machine.empty() && device.label == joined_.label;
  }

  void add(const EvaluatedDevice& device) {
    machines_.insert(device.machine);
    for (const Curve& curve : device.curves) {
      if (joined_.in(curve.dtype) == nullptr) {
        joined_.curves.push_back(curve);
      }
      for (const CurvePoint& point : curve.points) {
        points_[{curve.dtype, point.batch}][device.machine].push_back(point);
      }
    }
    joined_.usable_bytes = std::min(joined_.usable_bytes, device.usable_bytes);
    joined_.files.insert(joined_.files.end(), device.files.begin(), device.files.end());
    joined_.caveats.insert(joined_.caveats.end(), device.caveats.begin(), device.caveats.end());
  }

  std::size_t machines() const { return machines_.size(); }

  EvaluatedDevice device(const std::map<std::string, std::string>& names) && {
    joined_.machine.clear();
    for (Curve& curve : joined_.curves) {
      curve.points.clear();
    }
    std::vector<std::vector<double>> levels;
    for (const auto& [key, machines] : points_) {
      std::ranges::find(joined_.curves, key.first, &Curve::dtype)->points.push_back(joined(machines));
      std::vector<double>& level = levels.emplace_back();
      for (const std::string& machine : machines_) {
        const auto found = machines.find(machine);
        level.push_back(found == machines.end() ? std::numeric_limits<double>::quiet_NaN()
                                                : -std::log(middle_of(found->second).per_s));
      }
    }
    joined_.caveats.push_back(fmt::format(
        "{} machines; the figures are the median machine's, their intervals reach from the slowest "
        "machine to the fastest",
        machines_.size()));
    std::vector<std::string> named;
    for (const std::string& machine : machines_) {
      named.push_back(names.at(machine));
    }
    for (std::string& sentence : outliers_in_words(levels, named)) {
      joined_.caveats.push_back(std::move(sentence));
    }
    return std::move(joined_);
  }

 private:
  EvaluatedDevice joined_;
  std::set<std::string> machines_;
  std::map<PointKey, PointsOfMachines> points_;
};

}  // namespace

void join_fleets(std::vector<EvaluatedDevice>& devices, const std::map<std::string, std::string>& names) {
  std::vector<EvaluatedDevice> all;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Fleet fleet(devices[i]);
    for (const EvaluatedDevice& device : devices) {
      if (fleet.takes(device)) {
        fleet.add(device);
      }
    }
    const bool is_first =
        std::ranges::none_of(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i),
                             [&](const EvaluatedDevice& earlier) { return fleet.takes(earlier); });
    if (fleet.machines() < 2 || !fleet.takes(devices[i])) {
      all.push_back(devices[i]);
    } else if (is_first) {
      all.push_back(std::move(fleet).device(names));
    }
  }
  devices = std::move(all);
}

}  // namespace bench
