#include "bench/cli/command_line.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/benchmark_flags.h"
#include "bench/cli/options.h"
#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/result/embedded_files.h"
#include "bench/run/gpu_files.h"
#include "bench/sweep.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

std::vector<std::string> modes() {
  std::vector<std::string> all;
  for (const auto& type : registry<WorkloadType>().entries()) {
    all.insert(all.end(), type->modes.begin(), type->modes.end());
  }
  return all;
}

std::vector<std::string> devices() {
  std::vector<std::string> ids = gpu_ids();
  ids.insert(ids.end(), {"auto", "cpu", "cuda:0"});
  return ids;
}

std::vector<Option> describe_options() {
  const Options defaults;
  const auto budget = static_cast<double>(defaults.time_budget.count());
  std::vector<Option> options{
      {"sweep", "NAME", "the question to answer", names_of<SweepType>},
      {"workload", "NAME", "network or operation (default: the sweep's)", names_of<WorkloadType>},
      {"device", "ID",
       fmt::format("auto, cpu, cuda:N, or t4 to predict (--list --gpus; default: {})", defaults.device),
       devices},
      {"mode", "NAME", "what a step is; see --workload NAME --help", modes},
      {"dtype", "LIST", "one or more of fp32, tf32, fp16, bf16 (default: those the device has)",
       these({"fp32", "tf32", "fp16", "bf16", "half"})},
      {"framework", "NAME",
       "to predict for: pytorch (eager), pytorch-compiled, or bench for --sweep memory (default: pytorch)",
       these({"pytorch", "pytorch-compiled", "bench"})},
      {"batch", "AXIS", "1,2,4 or 1:256:x2 or 8:64:+8 (default: doubling)"},
      {"memory-cap", "SIZE", "most memory of a point (default: 80 % of what is free)"},
      {"time-budget", "TIME", fmt::format("end measuring after this (default: {})", format_duration(budget))},
      {"quick", "", "a first answer within 10 s: a --time-budget of 8s"},
      {"seed", "N", fmt::format("draws the inputs and the order of points (default: {})", defaults.seed)},
      {"out", "DIR", "folder of result and picture (default: results/local)"},
      {"no-plot", "", "draw no picture"},
      {"no-cache", "", "neither use nor keep anything in the cache folder (see --list)"},
      {"verbose", "", "print every finding and reason; with --help, every option"},
      {"format", "NAME", "{} (default: text; the others alone on standard output)", format_option().words},
      {"dry-run", "", "list the points, their memory and the time that a run takes; run nothing"},
      {"resume", "", "keep the points the result file has already"},
      {"list", "", "list the sweeps, workloads and devices"},
      {"gpus", "FILE", "a catalogue for --device in place of the program's; --list --gpus prints that"},
      {"completion", "SHELL", "print what completes command lines in bash, zsh or fish",
       these({"bash", "zsh", "fish"})},
      {"schema", "NAME", fmt::format("print the JSON Schema of {}", fmt::join(schema_names(), ", ")),
       schema_names},
      {"explain", "", "print what ○, ±, driver and the other signs of tables and pictures mean"},
      {.name = "version",
       .value = "",
       .help = "print the versions of bench and of its libraries, and their places",
       .letter = 'V'},
      {.name = "help",
       .value = "",
       .help = "print the help, of a sweep or workload where one is given",
       .letter = 'h'},
  };
  std::ranges::copy(benchmark_options(), std::back_inserter(options));
  return options;
}

}  // namespace

const std::vector<Option>& program_options() {
  static const std::vector<Option> options = describe_options();
  return options;
}

CommandLine::CommandLine(const std::vector<std::string>& arguments) {
  std::vector<Option> options = program_options();
  const auto add_options_of = [&options](const auto& entries) {
    for (const auto& entry : entries) {
      std::ranges::transform(entry->options, std::back_inserter(options), option_of);
    }
  };
  add_options_of(registry<SweepType>().entries());
  add_options_of(registry<WorkloadType>().entries());
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    options.push_back({reader->name, "FILE", reader->description});
  }
  add_options_of(registry<WorkloadReader>().entries());

  // `--list --gpus`, or `--gpus` alone, may do without its value.
  const bool lists_gpus = !arguments.empty() && arguments.size() <= 2 && arguments.front() == "--gpus" &&
                          (arguments.size() == 1 || is_gpu_file(arguments.back()));
  const auto is_given = [&](const char* word) {
    return std::ranges::find(arguments, word) != arguments.end();
  };
  const bool asks = is_given("--help") || is_given("-h") || is_given("--version") || is_given("-V");
  given_ = given_options(
      options, arguments,
      {.may_lack_value = lists_gpus || is_given("--list") ? "gpus" : "", .refuses_misuse = !asks});
  if (lists_gpus) {
    given_.values["list"] = {"yes"};
  }
  if (!asks && !given_.others.empty()) {
    throw UsageError(fmt::format("{} is not an option; options start with --, see bench --help",
                                 quote(given_.others.front())));
  }
}

}  // namespace bench
