#include "planning.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/run/benchmark_run.h"
#include "bench/stats/statistics.h"
#include "bench/workload.h"

namespace bench::peers {
namespace {

constexpr int kRepetitions = 7;
constexpr std::int64_t kLargestBatch = 4096;

// The processor's time of each plan, by benchmark: planning waits for nothing, so on an idle
// machine it is the wall's, and on another one it is free of what else ran. Unsupported ones, as batches too
// small to be normalised, have none.
class CollectingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (!was_skipped(run) && run.run_type == Run::RT_Iteration) {
        times_ms[run.run_name.function_name].push_back(run.cpu_accumulated_time * 1e3 /
                                                       static_cast<double>(run.iterations));
      }
    }
  }
  std::map<std::string, std::vector<double>> times_ms;
};

std::string name_of_plan(const std::string& network, const std::string& mode, std::int64_t batch) {
  return fmt::format("{}/{}/{}", network, mode, batch);
}

void register_plan(const WorkloadType& type, const WorkloadSpec& spec, Device& device) {
  // One plan a repetition, so that the slowest is seen and not averaged away. The first asks the library
  // everything; the others find its answers for convolutions remembered.
  benchmark::RegisterBenchmark(name_of_plan(type.name, spec.mode, spec.batch).c_str(),
                               [&type, spec, &device, first = true](benchmark::State& state) mutable {
                                 if (std::exchange(first, false)) {
                                   device.drop_caches();
                                 }
                                 try {
                                   for (auto _ : state) {
                                     benchmark::DoNotOptimize(type.configure(spec)->plan(device));
                                   }
                                 } catch (const Unsupported& error) {
                                   state.SkipWithError(error.what());
                                 }
                               })
      ->Iterations(1)
      ->Repetitions(kRepetitions);
}

}  // namespace

std::vector<PlanningTime> planning_times() {
  const std::unique_ptr<Device> device = registry<DeviceKind>().find("cpu")->open("cpu");
  std::vector<std::pair<std::string, std::string>> plans;
  for (const auto& type : registry<WorkloadType>().entries()) {
    if (type->kind != "network") {
      continue;
    }
    WorkloadSpec spec;
    for (const CommandOption& option : type->options) {
      spec.options[option.name] = option.default_value;
    }
    for (const std::string& mode : type->modes) {
      plans.emplace_back(type->name, mode);
      spec.mode = mode;
      for (spec.batch = 1; spec.batch <= kLargestBatch; spec.batch *= 2) {
        register_plan(*type, spec, *device);
      }
    }
  }
  CollectingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();

  std::vector<PlanningTime> all;
  for (const auto& [network, mode] : plans) {
    PlanningTime time{.network = network, .mode = mode};
    for (std::int64_t batch = 1; batch <= kLargestBatch; batch *= 2) {
      const auto found = reporter.times_ms.find(name_of_plan(network, mode, batch));
      if (found == reporter.times_ms.end()) {
        continue;
      }
      time.max_ms = std::max(time.max_ms, std::ranges::max(found->second));
      if (const double middle = median(found->second); middle > time.median_ms) {
        time.median_ms = middle;
        time.slowest_batch = batch;
      }
    }
    all.push_back(std::move(time));
  }
  return all;
}

}  // namespace bench::peers
