// Result documents of a batch sweep on made-up machines, whose truth the findings should find again.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "bench/dtype.h"
#include "bench/registry.h"
#include "bench/stats/random.h"
#include "bench/sweep.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/stub_workload.h"

namespace bench {

// A device whose step takes t0 + batch/T∞, plus seeded noise, and whose memory is a line.
struct Machine {
  std::string dtype = "fp32";
  double t0_ns = 4e6;
  double per_s = 100;
  std::int64_t fixed_bytes = 100 << 20;
  std::int64_t sample_bytes = 10 << 20;
  double noise = 0.002;
};

inline Point measure(const Machine& machine, std::int64_t batch, std::mt19937_64& engine) {
  const auto size = static_cast<double>(batch);
  const double noise = 1 + machine.noise * (2 * unit_draw(engine) - 1);
  const double step = (machine.t0_ns + size * 1e9 / machine.per_s) * noise;
  Point point;
  point.name = "batch/tiny/infer/" + machine.dtype + "/batch:" + std::to_string(batch);
  point.params = {{"batch", batch}, {"dtype", machine.dtype}};
  point.items_per_step = size;
  point.stats.median_ns = step;
  point.stats.ci95_ns = {step * (1 - machine.noise), step * (1 + machine.noise)};
  point.stats.rounds = 3;
  point.memory.peak_measured = machine.fixed_bytes + batch * machine.sample_bytes;
  point.work = {.samples = size,
                .flops = 4e9 * size,
                .fixed_bytes = 100e6,
                .sample_bytes = 50e6 * size,
                .launches = 53};
  return point;
}

inline ResultDocument document_of(const std::vector<Machine>& machines, std::int64_t last,
                                  std::int64_t cap = 0) {
  std::mt19937_64 engine(17);
  ResultDocument document;
  document.sweep.axes = {{"dtype", Json::array()}};
  for (const Machine& machine : machines) {
    document.sweep.axes["dtype"].push_back(machine.dtype);
    document.context.peaks[*parse_dtype(machine.dtype)] = {
        .flops_per_s = 500e9, .bytes_per_s = 50e9, .source = ""};
    for (std::int64_t batch = 1; batch <= last; batch *= 2) {
      document.points.push_back(measure(machine, batch, engine));
    }
  }
  if (cap > 0) {
    document.sweep.memory_cap_bytes = cap;
  }
  return document;
}

// As of a file that is read back.
inline std::vector<Finding> findings_of(ResultDocument document) {
  static const WorkloadType workload = testing::stub_workload({"infer"});
  const testing::ManualClock clock;
  SweepRequest request(clock);
  request.workload = &workload;
  request.batches = {1};
  testing::FakeDevice device({Dtype::fp32});
  const auto sweep = registry<SweepType>().find("batch")->make(request, device);
  sweep->restore(document);
  return sweep->findings(document);
}

inline Finding find(const ResultDocument& document, const std::string& name) {
  for (const Finding& finding : findings_of(document)) {
    if (finding.name == name) {
      return finding;
    }
  }
  ADD_FAILURE() << "no finding " << name;
  return {};
}

inline std::vector<std::string> names_of(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  names.reserve(findings.size());
  for (const Finding& finding : findings) {
    names.push_back(finding.name);
  }
  return names;
}

inline void flag(ResultDocument& document, const std::string& name, const std::vector<std::string>& flags) {
  for (Point& point : document.points) {
    if (point.name.find(name) != std::string::npos) {
      point.validity.flags = flags;
    }
  }
}

// Widens the interval of a dtype's points so far that no saturation can be placed.
inline void blur(ResultDocument& document, const std::string& dtype, double by) {
  for (Point& point : document.points) {
    if (point.params["dtype"] == dtype) {
      point.stats.ci95_ns = {point.stats.median_ns * (1 - by), point.stats.median_ns * (1 + by)};
    }
  }
}

}  // namespace bench
