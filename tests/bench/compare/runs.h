// Runs to compare, as if read from files: points by name, with a median each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/compare/run.h"

namespace bench::testing {

using Medians = std::map<std::string, double>;  // milliseconds

inline ComparedRun compared_run_of(const std::string& id, const Medians& points) {
  ComparedRun run;
  run.path = id + ".json";
  run.identity = id;
  run.context.device.kind = "cpu";
  run.context.device.name = "Example CPU";
  run.context.device.compute_units = 2;
  run.context.device.memory_bytes = 8'000'000'000;
  run.context.software = {{"onednn", "2.6"}};
  run.sweep.name = "batch";
  run.sweep.workload = "resnet18";
  for (const auto& [name, ms] : points) {
    RunPoint point;
    point.name = name;
    point.key = name;
    point.params = {{"batch", 1}};
    point.median_ns = ms * 1e6;
    point.rounds = 3;
    point.items_per_step = 4;
    point.planned_bytes = 1'000'000;
    point.tracked_bytes = 1'000'000;
    point.driver_bytes = 50'000'000;
    run.points.push_back(point);
  }
  return run;
}

// Five runs of four points that take 10, 20, 30 and 40 ms, with 0.1 % of noise; `factors` by point.
inline std::vector<ComparedRun> five_runs(const std::string& side,
                                          const std::map<std::string, double>& factors = {}) {
  std::vector<ComparedRun> runs;
  for (int run = 0; run < 5; ++run) {
    Medians medians;
    for (int point = 0; point < 4; ++point) {
      const std::string name = "batch/resnet18/batch:" + std::to_string(point);
      const auto factor = factors.find(name);
      const int noise = (run * 7 + point * 3) % 5 - 2;
      medians[name] =
          10.0 * (point + 1) * (1 + 0.0005 * noise) * (factor == factors.end() ? 1 : factor->second);
    }
    runs.push_back(compared_run_of(side + std::to_string(run), medians));
  }
  return runs;
}

inline std::string point_name(int point) {
  return "batch/resnet18/batch:" + std::to_string(point);
}

}  // namespace bench::testing
