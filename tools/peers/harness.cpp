// Cost of the harness itself, as one JSON line: a sample's overhead, a large result file, and planning.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "bench/registry.h"
#include "bench/result/result.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/result_file.h"
#include "copying.h"
#include "planning.h"
#include "simulation_speed.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Nothing : public bench::Workload {
 public:
  void step() override {}
  bench::Verification verify() override { return {true, 0, 0, ""}; }
  bench::Work work() const override { return {}; }
};

// Wall time of a repetition of a workload that does nothing, per sample: clock reads, bookkeeping and Google
// Benchmark's loop. The least of several: everything above it is other processes.
double ns_per_sample() {
  constexpr std::int64_t kSamples = 100'000;
  const auto device = bench::registry<bench::DeviceKind>().find("cpu")->open("cpu");
  Nothing nothing;
  double least = 0;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto start = Clock::now();
    bench::run_repetition("nothing", nothing, *device, kSamples);
    const double each = seconds_since(start) * 1e9 / static_cast<double>(kSamples);
    least = repetition == 0 ? each : std::min(least, each);
  }
  return least;
}

bench::ResultDocument large_document(std::int64_t points) {
  bench::ResultDocument document;
  document.sweep.name = "batch";
  document.sweep.question = "?";
  document.sweep.workload = "nothing";
  document.context.google_benchmark = {{"date", "2000-01-01T00:00:00+00:00"}};
  document.sessions = {{.id = "run", .started = "2000-01-01T00:00:00+00:00"}};
  for (std::int64_t i = 1; i <= points; ++i) {
    bench::Point point;
    point.name = "batch/nothing/infer/fp32/batch:" + std::to_string(i);
    point.params = {{"batch", i}, {"dtype", "fp32"}};
    // As much as a point of a real sweep holds: three rounds of some tens of samples.
    for (std::int64_t sample = 0; sample < 60; ++sample) {
      point.samples_ns.push_back(1'000'000 + (i * 7919 + sample * 104'729) % 50'000);
    }
    point.rounds = bench::rounds_of({20, 20, 20});
    point.items_per_step = static_cast<double>(i);
    point.stats = {.median_ns = 1'025'000,
                   .p05_ns = 1e6,
                   .p95_ns = 1.05e6,
                   .cv = 0.01,
                   .ci95_ns = bench::Interval{1.02e6, 1.03e6},
                   .rounds = 3};
    point.work = {.samples = point.items_per_step,
                  .flops = 1e9,
                  .fixed_bytes = 1e6,
                  .sample_bytes = 1e6,
                  .launches = 50};
    point.verification =
        bench::Verification{.passed = true, .error = 1e-7, .tolerance = 1e-5, .detail = "all rows"};
    document.points.push_back(std::move(point));
  }
  return document;
}

}  // namespace

int main() {
  try {
    const double overhead = ns_per_sample();

    constexpr std::int64_t kPoints = 10'000;
    const bench::ResultDocument document = large_document(kPoints);
    const auto folder =
        std::filesystem::temp_directory_path() / ("bench-harness-" + std::to_string(getpid()));
    double write_s = 0;
    double read_s = 0;
    std::size_t read = 0;
    std::uintmax_t bytes = 0;
    {
      bench::ResultFile file(folder, "batch", "nothing", "cpu");
      file.check_writable();
      const auto write_start = Clock::now();
      file.write(document);
      write_s = seconds_since(write_start);
      bytes = std::filesystem::file_size(file.path());
      const auto read_start = Clock::now();
      read = bench::read_result(file.path()).points.size();
      read_s = seconds_since(read_start);
    }
    std::filesystem::remove_all(folder);
    if (read != static_cast<std::size_t>(kPoints)) {
      throw std::runtime_error("the file came back with another number of points");
    }
    bench::Json planning = bench::Json::array();
    for (const bench::peers::PlanningTime& time : bench::peers::planning_times()) {
      planning.push_back({{"network", time.network},
                          {"mode", time.mode},
                          {"slowest_batch", time.slowest_batch},
                          {"median_ms", time.median_ms},
                          {"max_ms", time.max_ms}});
    }
    const bench::peers::CopyComparison copies = bench::peers::compare_copies();
    std::cout << bench::Json{{"ns_per_sample", overhead},
                             {"copy_bytes", copies.bytes},
                             {"copy_time_over_tuned", copies.time_over_tuned},
                             {"ns_per_simulated_batch", bench::peers::ns_per_simulated_batch()},
                             {"planning", planning},
                             {"file_points", kPoints},
                             {"file_bytes", bytes},
                             {"file_write_s", write_s},
                             {"file_read_s", read_s}}
              << '\n';
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_harness: %s\n", error.what());
    return 1;
  }
  return 0;
}
