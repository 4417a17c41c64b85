#include "bench/run/visit.h"

#include <exception>
#include <utility>

#include <benchmark/benchmark.h>

#include "bench/run/interrupt.h"

namespace bench {
namespace {

// Google Benchmark's own output is made at the end, from all rounds: see google_benchmark.h.
class CapturingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (!run.error_occurred && run.iterations > 0) {
        cpu_time_ns = run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations);
      }
    }
  }
  double cpu_time_ns = 0;
};

}  // namespace

Visit run_visit(const std::string& name, Workload& workload, Device& device, std::int64_t samples,
                bool cold_caches) {
  Visit visit;
  visit.samples_ns.reserve(static_cast<std::size_t>(samples));
  std::exception_ptr failure;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 for (auto _ : state) {
                                   try {
                                     if (cold_caches) {
                                       device.flush_caches();
                                     }
                                     workload.before_step();
                                     const std::int64_t elapsed_ns = workload.timed_step(device);
                                     if (interrupted()) {  // which the step may have ended early for
                                       state.SkipWithError("interrupted");
                                       break;
                                     }
                                     visit.samples_ns.push_back(elapsed_ns);
                                     if (Json notes = workload.notes(); !notes.is_null()) {
                                       visit.notes.push_back(std::move(notes));
                                     }
                                     state.SetIterationTime(static_cast<double>(elapsed_ns) * 1e-9);
                                   } catch (...) {
                                     failure = std::current_exception();
                                     state.SkipWithError("the step failed");
                                     break;
                                   }
                                 }
                               })
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Iterations(samples);
  CapturingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) {
    std::rethrow_exception(failure);
  }
  visit.cpu_time_ns = reporter.cpu_time_ns;
  return visit;
}

}  // namespace bench
