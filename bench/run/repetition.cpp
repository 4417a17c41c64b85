#include "bench/run/repetition.h"

#include <exception>
#include <utility>

#include <benchmark/benchmark.h>

#include "bench/host/interrupt.h"

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

Repetition run_repetition(const std::string& name, Workload& workload, Device& device, std::int64_t samples,
                          bool cold_caches) {
  Repetition repetition;
  repetition.samples_ns.reserve(static_cast<std::size_t>(samples));
  const auto take_sample = [&](benchmark::State& state) {
    if (cold_caches) {
      device.flush_caches();
    }
    workload.before_step();
    const std::int64_t elapsed_ns = workload.timed_step(device);
    if (interrupted()) {  // which the step may have ended early for
      state.SkipWithError("interrupted");
      return;
    }
    repetition.samples_ns.push_back(elapsed_ns);
    if (auto note = workload.note()) {
      repetition.notes.push_back(std::move(note));
    }
    state.SetIterationTime(static_cast<double>(elapsed_ns) * 1e-9);
  };
  std::exception_ptr failure;
  const auto take_samples = [&](benchmark::State& state) {
    for (auto _ : state) {
      try {
        take_sample(state);
      } catch (...) {
        failure = std::current_exception();
        state.SkipWithError("the step failed");
      }
      if (state.error_occurred()) {
        break;
      }
    }
  };
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(), take_samples)
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Iterations(samples);
  CapturingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) {
    std::rethrow_exception(failure);
  }
  repetition.cpu_time_ns = reporter.cpu_time_ns;
  return repetition;
}

}  // namespace bench
