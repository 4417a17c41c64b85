// The command line, checked: every name exists, every value has the right form.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/dtype.h"
#include "bench/model/gpu_model.h"
#include "bench/workload.h"

namespace bench {

// Google Benchmark's own flags (`--benchmark_…`).
struct BenchmarkFlags {
  std::string filter;  // a regular expression, '-' before it inverts; empty: every point
  bool list_tests = false;
  std::string out;                       // file; empty: none
  std::string out_format = "json";       // console, json or csv
  std::string format;                    // the same; empty: this program's own table
  std::int64_t repetitions = 0;          // rounds, at least 3; 0: the sweep's default
  std::vector<std::string> other_flags;  // as given, for Google Benchmark to read
};

struct Options {
  std::string text;        // of --help, --version or --schema: the program prints it and ends
  std::string completion;  // the shell whose stub the program prints, and ends; empty: none was asked for
  bool list = false;
  bool list_gpus = false;  // --list --gpus

  std::string sweep;            // registered
  std::string device = "auto";  // checked when it is opened
  std::string workload;         // registered; empty: the sweep's default, or that of a file
  std::shared_ptr<const WorkloadType> file_workload{};  // read from a file, as --onnx names one
  // Lists hold one value where the sweep takes no lists, and are empty where nothing was given.
  std::vector<std::string> modes;  // of the workload
  std::vector<Dtype> dtypes;
  bool cast_whole = false;               // --dtype half: fp16 means the model cast whole, not autocast
  std::optional<Framework> framework{};  // of a device that is not here
  std::vector<std::int64_t> batches;
  std::map<std::string, std::vector<std::string>>
      workload_options;                              // those given; names the workload has, values unchecked
  std::map<std::string, std::string> sweep_options;  // those given; names the sweep has, values unchecked
  std::vector<std::int64_t> memory_caps;             // bytes, growing
  std::chrono::nanoseconds time_budget = std::chrono::seconds(100);
  bool quick = false;         // its own time budget
  std::uint64_t seed = 1;     // below 2^63, so that every JSON reader keeps it
  std::filesystem::path out;  // empty: default_result_folder()
  bool plot = true;
  bool cache = true;  // of autotuning's choices
  bool dry_run = false;
  bool resume = false;
  bool verbose = false;  // every finding is printed
  std::string format;    // json, csv or markdown, alone on standard output; empty: text for people
  BenchmarkFlags benchmark;
};

// Reads the registries for the names of sweeps, workloads and their options, and the file of a workload that
// is in one. Never exits.
// Throws UsageError, one sentence naming the option, what was given and what is accepted; the usage follows
// it where no argument is given at all.
Options parse_options(int argc, const char* const* argv);

// Throws UsageError for a mode that the workload does not have, with the reason where it says one.
void check_mode(const WorkloadType& type, const std::string& mode);

}  // namespace bench
