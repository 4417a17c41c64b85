#include "bench/run/google_benchmark.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <ostream>
#include <span>
#include <sstream>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/run/benchmark_run.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

// One entry a round.
std::vector<Run> runs_of(const Point& point, std::int64_t family) {
  std::vector<Run> runs;
  auto from = point.samples_ns.begin();
  for (const MeasuredRound& round : point.rounds) {
    const std::int64_t samples = round.samples;
    const auto to = from + samples;
    const double real_ns = mean(std::span(from, to));
    from = to;
    Run& run = runs.emplace_back();
    run.run_name.function_name = point.name;
    run.family_index = family;
    run.per_family_instance_index = 0;
    run.repetitions = static_cast<std::int64_t>(point.rounds.size());
    run.repetition_index = static_cast<std::int64_t>(runs.size()) - 1;
    run.time_unit = benchmark::kNanosecond;
    run.statistics = nullptr;
    run.iterations = samples;
    run.real_accumulated_time = real_ns * 1e-9 * static_cast<double>(samples);
    run.cpu_accumulated_time =
        round.cpu_time_ns.value_or(point.cpu_time_ns) * 1e-9 * static_cast<double>(samples);
    if (real_ns > 0) {
      run.counters["items_per_second"] = benchmark::Counter(point.items_per_step / (real_ns * 1e-9));
    }
  }
  return runs;
}

// Prints nothing: Google Benchmark's own output is made at the end, from all rounds
// (write_google_benchmark()).
class CapturingReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (!was_skipped(run) && run.iterations > 0) {
        cpu_time_ns = run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations);
      }
    }
  }
  double cpu_time_ns = 0;
};

std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(const std::string& format) {
  if (format == "json") {
    return std::make_unique<benchmark::JSONReporter>();
  }
  if (format == "csv") {
    // Deprecated upstream in favour of its Python tools, yet still one of the formats its flag names.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  }
  return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_Tabular);
}

}  // namespace

void initialize_google_benchmark(const std::vector<std::string>& flags) {
  std::vector<std::string> owned{"bench"};
  owned.insert(owned.end(), flags.begin(), flags.end());
  std::vector<char*> argv;
  argv.reserve(owned.size() + 1);
  for (std::string& flag : owned) {
    argv.push_back(flag.data());
  }
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  benchmark::Initialize(&argc, argv.data());
  benchmark::BenchmarkReporter::Context::executable_name = "bench";  // it had kept a pointer into argv
  if (argc > 1) {
    throw UsageError(
        fmt::format("{}: Google Benchmark does not know this flag; accepted: those that it "
                    "documents, such as --benchmark_filter=REGEX or --benchmark_out=FILE",
                    argv[1]));
  }
}

std::vector<std::string> select_by_filter(const std::vector<std::string>& names, const std::string& filter) {
  if (filter.empty() || filter == "all") {
    return names;
  }
  benchmark::ClearRegisteredBenchmarks();
  for (const std::string& name : names) {
    benchmark::RegisterBenchmark(name.c_str(), [](benchmark::State&) {});
  }
  std::ostringstream listed;
  std::ostringstream errors;
  CapturingReporter reporter;
  reporter.SetOutputStream(&listed);
  reporter.SetErrorStream(&errors);
  initialize_google_benchmark({"--benchmark_list_tests=true"});
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, filter);
  initialize_google_benchmark({"--benchmark_list_tests=false"});
  benchmark::ClearRegisteredBenchmarks();
  if (errors.str().find("regular expression") != std::string::npos) {
    throw UsageError(
        fmt::format("--benchmark_filter: {} is not a regular expression; escape brackets that "
                    "are literal, as in 'batch:\\[8\\]'",
                    quote(filter)));
  }
  std::vector<std::string> selected;
  std::istringstream lines(listed.str());
  for (std::string line; std::getline(lines, line);) {
    selected.push_back(line);
  }
  return selected;
}

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

void write_google_benchmark(const ResultDocument& document, const std::string& format, std::ostream& out) {
  const auto reporter = make_reporter(format);
  reporter->SetOutputStream(&out);
  std::ostringstream context_noise;  // warnings about the machine: our own context has them
  reporter->SetErrorStream(&context_noise);
  benchmark::BenchmarkReporter::Context::executable_name = "bench";
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 10;
  for (const Point& point : measured_points(document)) {
    context.name_field_width = std::max(context.name_field_width, point.name.size() + 8);
  }
  reporter->ReportContext(context);
  std::int64_t family = 0;
  for (const Point& point : measured_points(document)) {
    reporter->ReportRuns(runs_of(point, family++));
  }
  reporter->Finalize();
}

}  // namespace bench
