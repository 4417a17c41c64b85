// The result document in memory: one sweep's context, points and findings. See results/schema.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/memory.h"

namespace bench {

inline constexpr const char* kResultSchema = "bench-result/1";

// Ordered, so that a file reads in the order it was written.
using Json = nlohmann::ordered_json;

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// Summary of a point's samples, all in nanoseconds. See measure/statistics.h for how each is computed.
struct SampleStats {
  double median_ns = 0;
  double p05_ns = 0;
  double p95_ns = 0;
  double cv = 0;     // standard deviation over mean
  Interval ci95_ns;  // of the median, the spread between rounds counted
  std::int64_t rounds = 0;
};

struct PointMemory {
  MemoryByCategory by_category;  // bytes at the tracked peak; `other` is what the driver saw beyond it
  std::int64_t peak_predicted = 0;
  std::int64_t peak_measured = 0;  // tracked
  std::int64_t driver_used = 0;    // growth the operating system or driver saw
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
  std::vector<std::int64_t> samples_ns;   // in the order taken, round after round
  std::vector<std::int64_t> round_sizes;  // samples of each round; sums to samples_ns.size()
  double cpu_time_ns = 0;                 // processor time of a step, all threads, mean
  double items_per_step = 0;              // samples (images) a step
  Json work;  // of a step: {"flops", "fixed_bytes", "sample_bytes", "launches"}, see bench/workload.h
  // What the memory plan says: {"peak_at", "setup_peak_bytes", "step_peak_bytes", "feature_map_bytes"};
  // absent members are unknown.
  Json plan;
  SampleStats stats;
  PointMemory memory;
  Validity validity;
  Json verification;  // {"error", "tolerance", "detail"}
  Json notes;         // what the workload says of each sample: an array beside samples_ns, or null
};

struct UnmeasuredPoint {
  std::string name;
  Json params;
  std::string status;  // "oom", "unsupported", "skipped", "error"
  std::string reason;
};

struct Finding {
  std::string name;             // "ceiling_batch"
  std::optional<double> value;  // none where the claim is that it cannot be told
  std::string unit;
  std::optional<Interval> ci95;
  std::string claim;                  // one sentence
  std::vector<std::string> evidence;  // names of measured points
  Json details;                       // further numbers, for the picture; may be null
};

struct ResultDocument {
  Json context;  // Google Benchmark's fields, device, host, software, argv, seed
  Json sweep;    // name, question, workload, axes
  std::vector<MeasuredPoint> benchmarks;
  std::vector<UnmeasuredPoint> unmeasured;
  std::vector<Finding> findings;
};

// Strict JSON: throws std::domain_error on NaN or Infinity. Bytes and nanosecond samples are integers.
Json to_json(const ResultDocument& document);
// Throws UsageError naming what is wrong ("schema is bench-result/7; this program reads bench-result/1"),
// also for numbers out of their range and a point's name given twice.
ResultDocument document_from_json(const Json& json);

}  // namespace bench
