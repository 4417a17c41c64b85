#include "tests/bench/support/sample_document.h"

#include <string>

#include <nlohmann/json.hpp>

namespace bench::testing {

RunContext sample_context() {
  RunContext context;
  context.google_benchmark = {{"date", "2026-03-01T12:34:56+01:00"},
                              {"host_name", "lab-3"},
                              {"executable", "build/release/bench"},
                              {"num_cpus", 2},
                              {"mhz_per_cpu", 2596},
                              {"cpu_scaling_enabled", false},
                              {"caches", Json::array()},
                              {"load_avg", {0.0, 0.148438, 0.510254}},
                              {"library_build_type", "release"}};
  context.caches = {{.type = "Data", .level = 1, .size = 32768, .num_sharing = 1}};
  context.device = {.id = "cpu",
                    .kind = "cpu",
                    .name = "Example CPU 9000 \"β\"",
                    .memory_bytes = 8589934592,
                    .available_bytes = 8000000000,
                    .compute_units = 2,
                    .details = {{"isa", "avx512_core_bf16"}}};
  context.host = {.cpu = "Example CPU 9000", .usable_cores = 2, .cpu_quota = 2.5, .memory_bytes = 8589934592};
  context.software = {{"bench", "0.1.0"}, {"compiler", "GCC 12.2.0"}, {"onednn", "2.6.3"}};
  context.argv = {"build/release/bench", "--sweep", "batch"};
  context.seed = 9007199254740995;
  context.run_id = "20260301T113456Z-0123456789abcdef";
  context.machine = "00ff00ff00ff00ff";
  return context;
}

Point sample_point(std::int64_t batch, std::int64_t step_ns) {
  Point point;
  point.name = "batch/resnet18/infer/fp32/batch:" + std::to_string(batch);
  point.params = {{"batch", batch}, {"dtype", "fp32"}};
  point.samples_ns = {step_ns, step_ns + 1, step_ns - 1, 9007199254740993, step_ns + 7, step_ns};
  point.rounds = {{.samples = 2,
                   .session = 0,
                   .round = 0,
                   .order = 1,
                   .start_ns = 1'500'000'000,
                   .cpu_time_ns = 1.9 * static_cast<double>(step_ns),
                   .clock_mhz = 2596.094,
                   .temperature_c = 61.5,
                   .power_w = 33.25,
                   .throttled = {"cpu_quota"},
                   .steal = 0.015625,
                   .other_cores = 0.1,
                   .load = 1.75,
                   .calibration = {{"device", {.arithmetic_ns = 1.25e6, .copy_ns = 1e6 / 3}},
                                   {"host", {.arithmetic_ns = 203'125, .copy_ns = 180'000}}},
                   .disturbed = {"throttled"}},
                  {.samples = 1, .session = 0, .round = 1, .order = 0, .start_ns = 2'000'000'000},
                  {.samples = 3, .session = 1, .round = 0, .order = 0, .start_ns = 0}};
  point.cpu_time_ns = 0.1 + static_cast<double>(step_ns);
  point.items_per_step = static_cast<double>(batch);
  point.work = {.samples = static_cast<double>(batch),
                .flops = 3.6e9,
                .fixed_bytes = 4.7e7,
                .sample_bytes = 2.1e7,
                .launches = 31};
  point.stats = {.median_ns = static_cast<double>(step_ns) + 0.5,
                 .p05_ns = static_cast<double>(step_ns) - 1.0 / 3.0,
                 .p95_ns = 1e15 / 7,
                 .cv = 0.012345678901234567,
                 .ci95_ns = Interval{.low = static_cast<double>(step_ns) * 0.99,
                                     .high = static_cast<double>(step_ns) * 1.01},
                 .ci95_between_ns = Interval{.low = static_cast<double>(step_ns) * 0.95,
                                             .high = static_cast<double>(step_ns) * 1.06},
                 .interval_kind = "rounds",
                 .rounds = 3,
                 .effective_rounds = 2.5};
  std::int64_t bytes = 1;
  for (const MemoryCategory category : kMemoryCategories) {
    point.memory.by_category[category] = bytes *= 7;
  }
  point.memory.by_category[MemoryCategory::other] = -4096;
  point.memory.peak_predicted = 46'000'000;
  point.memory.peak_measured = 46'000'128;
  point.memory.driver_used = 50'000'000;
  point.validity.flags = {"noisy", "throttled:cpu_quota"};
  point.validity.temperature_c = 61.5;
  point.verification =
      Verification{.passed = true, .error = 3.1e-7, .tolerance = 1e-5, .detail = "logits of 2 images"};
  return point;
}

std::vector<Session> sample_sessions() {
  return {{.id = "20260301T113456Z-0123456789abcdef",
           .started = "2026-03-01T12:34:56+01:00",
           .boot_id = "4a5b-6c",
           .kernel = "6.1.0-18-amd64",
           .governor = "performance",
           .build = "01fe10",
           .commit = "7b5218b",
           .threads = {{"OMP_NUM_THREADS", "2"}},
           .calibration = {{"host",
                            {.median = {.arithmetic_ns = 203'125, .copy_ns = 180'000},
                             .readings = 31,
                             .usual = Calibration{.arithmetic_ns = 200'000, .copy_ns = 181'000},
                             .usual_runs = 8}}},
           .history =
               BetweenRuns{
                   .runs = 9, .since = "2026-02-20T08:00:00+01:00", .common_sd = 0.021, .own_sd = 0.0075}},
          {.id = "20260301T133456Z-0123456789abcdef", .started = "2026-03-01T14:34:56+01:00"}};
}

ResultDocument sample_document() {
  ResultDocument document;
  document.context = sample_context();
  document.sessions = sample_sessions();
  document.sweep.name = "batch";
  document.sweep.question = "Where does a larger batch stop paying?";
  document.sweep.workload = "resnet18";
  document.sweep.axes = {{"batch", {1, 2, 4}}, {"dtype", {"fp32", "fp16"}}};
  document.points = {sample_point(1, 20'000'000), sample_point(2, 30'000'000)};
  document.unmeasured = {{.name = "batch/resnet18/infer/fp16/batch:1",
                          .params = {{"batch", 1}, {"dtype", "fp16"}},
                          .status = "unsupported",
                          .reason = "fp16 convolution is not in oneDNN 2.6 for this processor"}};
  document.findings = {{.name = "ceiling_batch",
                        .value = 2,
                        .unit = "samples",
                        .ci95 = Interval{.low = 2, .high = 4},
                        .interval_kind = kOfSizes,
                        .claim = "Ceiling at batch 2: 95 % of the best throughput.",
                        .evidence = {document.points[1].name},
                        .details = {{"fraction", 0.95}}},
                       {.name = "bf16_speedup",
                        .value = std::nullopt,
                        .unit = "",
                        .ci95 = std::nullopt,
                        .claim = "Nothing can be told about bf16: it was not measured.",
                        .evidence = {},
                        .details = nullptr}};
  return document;
}

}  // namespace bench::testing
