#include "bench/run/google_benchmark.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>
#include <sstream>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/statistics.h"

namespace bench {
namespace {

// Takes the place of a reporter where Google Benchmark only lists: it prints the names to this stream.
class ListReporter : public benchmark::BenchmarkReporter {
 public:
  explicit ListReporter(std::ostream& out, std::ostream& err) {
    SetOutputStream(&out);
    SetErrorStream(&err);
  }
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

void set_flags(const std::vector<std::string>& flags) {
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

using Run = benchmark::BenchmarkReporter::Run;

Run make_run(const MeasuredPoint& point, std::int64_t family) {
  Run run;
  run.run_name.function_name = point.name;
  run.family_index = family;
  run.per_family_instance_index = 0;
  run.repetitions = static_cast<std::int64_t>(point.round_sizes.size());
  run.repetition_index = Run::no_repetition_index;
  run.time_unit = benchmark::kNanosecond;
  run.statistics = nullptr;
  return run;
}

void set_times(Run& run, const MeasuredPoint& point, double real_ns, std::int64_t iterations) {
  run.iterations = iterations;
  const auto steps = static_cast<double>(iterations);
  run.real_accumulated_time = real_ns * 1e-9 * steps;
  run.cpu_accumulated_time = point.cpu_time_ns * 1e-9 * steps;
  if (real_ns > 0) {
    run.counters["items_per_second"] = benchmark::Counter(point.items_per_step / (real_ns * 1e-9));
  }
}

std::vector<Run> runs_of(const MeasuredPoint& point, std::int64_t family) {
  std::vector<Run> runs;
  auto from = point.samples_ns.begin();
  for (std::size_t round = 0; round < point.round_sizes.size(); ++round) {
    const auto to = from + point.round_sizes[round];
    const double real_ns = mean(std::span(from, to));
    from = to;
    Run run = make_run(point, family);
    run.repetition_index = static_cast<std::int64_t>(round);
    set_times(run, point, real_ns, point.round_sizes[round]);
    runs.push_back(run);
  }
  return runs;
}

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
  set_flags(flags);
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
  ListReporter reporter(listed, errors);
  set_flags({"--benchmark_list_tests=true"});
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, filter);
  set_flags({"--benchmark_list_tests=false"});
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

void write_google_benchmark(const ResultDocument& document, const std::string& format, std::ostream& out) {
  const auto reporter = make_reporter(format);
  reporter->SetOutputStream(&out);
  std::ostringstream context_noise;  // warnings about the machine: our own context has them
  reporter->SetErrorStream(&context_noise);
  benchmark::BenchmarkReporter::Context::executable_name = "bench";
  benchmark::BenchmarkReporter::Context context;
  context.name_field_width = 10;
  for (const MeasuredPoint& point : document.benchmarks) {
    context.name_field_width = std::max(context.name_field_width, point.name.size() + 8);
  }
  reporter->ReportContext(context);
  std::int64_t family = 0;
  for (const MeasuredPoint& point : document.benchmarks) {
    reporter->ReportRuns(runs_of(point, family++));
  }
  reporter->Finalize();
}

}  // namespace bench
