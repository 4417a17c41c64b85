// A sweep: one question, its points and the findings that answer it. Implemented in sweeps/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/measure/result.h"
#include "bench/workload.h"

namespace bench {

// What the command line asks of a sweep, checked for form; empty or nullopt means "the sweep's default".
struct SweepRequest {
  const WorkloadType* workload = nullptr;
  std::string mode;
  std::vector<Dtype> dtypes;
  std::vector<std::int64_t> batches;
  std::map<std::string, std::string> workload_options;
  std::int64_t memory_cap = 0;  // bytes
  std::uint64_t seed = 1;
};

struct SweepPoint {
  std::string name;
  Json params;
  WorkloadSpec spec;
  // Points of one series differ only in size and stand in growing order. When growth stops (memory or time),
  // the rest of an open series is left out; a closed one lists them as unmeasured.
  std::string series;
};

struct SweepPlan {
  Json axes;
  std::vector<SweepPoint> points;
  bool open_ended = false;  // sizes were not asked for by name: stop growing quietly at cap or budget
};

struct Sweep {
  std::string name;      // "batch"
  std::string question;  // "Where does a larger batch stop paying, and what does it cost in memory?"
  std::string default_workload;
  std::function<SweepPlan(const SweepRequest&, Device&)> plan;
  // Pure: from the measured points to claims. Called after every point; must cope with few of them.
  std::function<std::vector<Finding>(const ResultDocument&)> findings;
};

}  // namespace bench
