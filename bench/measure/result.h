// The result document in memory: one sweep's context, points and findings. See results/schema.json.
#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/device.h"
#include "bench/json.h"
#include "bench/measure/estimate.h"
#include "bench/memory.h"
#include "bench/workload.h"

namespace bench {

inline constexpr const char* kResultSchema = "bench-result/1";

// Summary of a point's samples, all in nanoseconds. See measure/statistics.h for how each is computed.
struct SampleStats {
  double median_ns = 0;
  double p05_ns = 0;
  double p95_ns = 0;
  double cv = 0;     // standard deviation over mean
  Interval ci95_ns;  // of the median, the spread between rounds counted
  std::int64_t rounds = 0;

  bool operator==(const SampleStats&) const = default;
  // Without an interval where a single sample left it no width.
  Estimate step_time() const {
    const bool has_width = ci95_ns.low > 0 && ci95_ns.high > ci95_ns.low;
    return {.value = median_ns, .ci95 = has_width ? std::optional(ci95_ns) : std::nullopt};
  }
};

struct PointMemory {
  MemoryByCategory by_category;  // bytes at the tracked peak; `other` is what the driver saw beyond it
  std::int64_t peak_predicted = 0;
  std::int64_t peak_measured = 0;  // tracked
  std::int64_t driver_used = 0;    // growth the operating system or driver saw
};

// Figures of a point's memory plan in addition to its peak, in bytes; see MemoryPlan.
struct PlannedMemory {
  std::string peak_at;  // the operation that needs the most
  std::int64_t setup_peak = 0;
  std::int64_t step_peak = 0;
  std::int64_t library = 0;
  std::int64_t feature_maps = 0;
};

struct Validity {
  std::vector<std::string>
      flags;  // "noisy", "few_rounds", "throttled:…", "above_peak"; empty: nothing to say
  std::optional<double> sm_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
};

struct MeasuredPoint {
  std::string name;                       // "batch/resnet50/infer/fp32/batch:32"
  Json params;                            // {"batch": 32, "dtype": "fp32", …}
  std::any parsed{};                      // the same as its sweep reads it: a struct; not in the file
  std::vector<std::int64_t> samples_ns;   // in the order taken, round after round
  std::vector<std::int64_t> round_sizes;  // samples of each round; sums to samples_ns.size()
  double cpu_time_ns = 0;                 // processor time of a step, all threads, mean
  double items_per_step = 0;              // samples (images) a step
  Work work;                              // of a step
  std::optional<PlannedMemory> plan;      // where the workload's plan says more than the peak
  SampleStats stats;
  PointMemory memory;
  Validity validity;
  std::optional<Verification> verification;
  std::vector<std::shared_ptr<const SampleNote>> notes;  // empty, or one a sample
};

struct UnmeasuredPoint {
  std::string name;
  Json params;
  std::string status;  // "oom", "unsupported", "skipped", "error"
  std::string reason;
  std::any parsed{};  // as MeasuredPoint's
};

struct Finding {
  std::string name;             // "ceiling_batch"
  std::optional<double> value;  // none where it is not known
  std::string unit;
  std::optional<Interval> ci95;
  std::string claim;                  // one sentence
  std::vector<std::string> evidence;  // names of measured points
  Json details;                       // further numbers, for the picture; may be null
  // Place among the findings that are printed: 1 is first, at most five of a sweep have one. 0: in the JSON
  // and with --verbose only. Not in the JSON.
  int headline = 0;

  Finding& set(const Estimate& estimate) {
    value = estimate.value;
    ci95 = estimate.ci95;
    return *this;
  }
};

// A finding without value, interval and claim yet.
inline Finding finding_of(std::string name, std::string unit, std::vector<std::string> evidence = {}) {
  Finding finding;
  finding.name = std::move(name);
  finding.unit = std::move(unit);
  finding.evidence = std::move(evidence);
  return finding;
}

// Where, when and with what a result was measured.
struct RunContext {
  struct Host {
    std::string cpu;  // as its maker calls it
    int usable_cores = 0;
    std::optional<double> cpu_quota;  // cores the cgroup allows; none: no limit
    std::int64_t memory_bytes = 0;
  };
  struct Cache {  // of the host's processor
    std::string type;
    int level = 0;
    std::int64_t size = 0;  // bytes
    int num_sharing = 0;    // hardware threads
  };

  Json google_benchmark = Json::object();  // its own fields: date, host_name, executable, …
  std::vector<Cache> caches;
  DeviceInfo device;             // its details without versions of software; "clocks.sm_mhz" names a group
  std::map<Dtype, Peaks> peaks;  // of the device, where they were measured
  Json datasheet;                // the device's entry in results/gpus.json; null: none
  Host host;
  std::map<std::string, std::string> software;  // versions: "bench", "compiler", "onednn", …
  std::vector<std::string> argv;
  std::uint64_t seed = 0;

  // A detail of the device, "l2_bytes", as text; empty where it is not known.
  std::string detail(const std::string& name) const {
    const auto found = device.details.find(name);
    return found == device.details.end() ? std::string() : found->second;
  }
};

// The question, and what the sweep knows beyond its points.
struct SweepDescription {
  std::string name;
  std::string question;
  std::string workload;  // the result's label
  std::string mode;
  std::map<std::string, std::string> workload_options;
  std::optional<std::int64_t> memory_cap_bytes;  // the largest
  std::optional<std::int64_t> time_budget_ns;
  Json axes = Json::object();                                       // swept parameters and their values
  std::optional<std::map<std::string, std::string>> sweep_options;  // where the sweep has any
  std::vector<std::int64_t> memory_caps_bytes;                      // where there are several
  // A study's attempts that ended with the device lost, and why; see SweepStudy.
  std::map<std::string, std::string> lost;
  Json state = Json::object();  // the other members: what Sweep::to_json() wrote
};

struct ResultDocument {
  RunContext context;
  SweepDescription sweep;
  std::vector<MeasuredPoint> benchmarks;
  std::vector<UnmeasuredPoint> unmeasured;
  std::vector<Finding> findings;
};

// Strict JSON: throws std::domain_error on NaN or Infinity. Bytes and nanosecond samples are integers.
Json to_json(const ResultDocument& document);
// Params and notes are kept as JSON; Sweep::restore() reads them. Throws UsageError naming what is
// wrong ("schema is bench-result/7; this program reads bench-result/1"), also for numbers out of their range
// and a point's name given twice.
ResultDocument document_from_json(const Json& json);

}  // namespace bench
