#include "bench/cli/command_line.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "bench/cli/options.h"
#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/run/embedded_files.h"
#include "bench/run/gpu_files.h"
#include "bench/sweep.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

std::vector<ProgramOption> describe_options() {
  const Options defaults;
  const auto budget = static_cast<double>(defaults.time_budget.count());
  return {
      {"sweep", "NAME", "the question to answer"},
      {"workload", "NAME", "network or operation (default: the sweep's)"},
      {"device", "ID",
       fmt::format("auto, cpu, cuda:N, or t4 to predict (--list --gpus; default: {})", defaults.device)},
      {"mode", "NAME", "what a step is; see --workload NAME --help"},
      {"dtype", "LIST", "one or more of fp32, tf32, fp16, bf16 (default: those the device has)"},
      {"framework", "NAME",
       "to predict for: pytorch (eager), pytorch-compiled, or bench for --sweep memory (default: pytorch)"},
      {"batch", "AXIS", "1,2,4 or 1:256:x2 or 8:64:+8 (default: doubling)"},
      {"memory-cap", "SIZE", "most memory of a point (default: 80 % of what is free)"},
      {"time-budget", "TIME", fmt::format("end measuring after this (default: {})", format_duration(budget))},
      {"quick", "", "a first answer within 10 s: a --time-budget of 8s"},
      {"seed", "N", fmt::format("draws the inputs and the order of points (default: {})", defaults.seed)},
      {"out", "DIR", "folder of result and picture (default: results/local)"},
      {"no-plot", "", "draw no picture"},
      {"no-cache", "", "neither use nor keep anything in the cache folder (see --list)"},
      {"verbose", "", "print every finding and reason; with --help, every option"},
      {"format", "NAME", "text, json, csv or markdown (default: text; the others alone on standard output)"},
      {"dry-run", "", "list the points, their memory and the time that a run takes; run nothing"},
      {"resume", "", "keep the points the result file has already"},
      {"list", "", "list the sweeps, workloads and devices"},
      {"gpus", "FILE", "a catalogue for --device in place of the program's; --list --gpus prints that"},
      {"completion", "SHELL", "print what completes command lines in bash, zsh or fish"},
      {"schema", "NAME", fmt::format("print the JSON Schema of {}", fmt::join(schema_names(), ", "))},
      {"version", "", "print the versions of bench and of its libraries, and their places"},
      {"help", "", "print the help, of a sweep or workload where one is given"},
  };
}

// CLI11's value of an option that was given none; no argument of a program holds it.
const std::string kNoValue(1, '\0');
const std::string kYes = "yes";  // of a switch

// Other tools' names of options, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kOtherNames{
    {{"model", "workload"},
     {"network", "workload"},
     {"precision", "dtype"},
     {"bs", "batch"},
     {"iters", "benchmark_repetitions"},
     {"iterations", "benchmark_repetitions"},
     {"repetitions", "benchmark_repetitions"},
     {"duration", "time-budget"},
     {"gpu", "device"},
     {"output", "out"},
     {"json", "format json"},
     {"csv", "format csv"},
     {"markdown", "format markdown"}}};

std::optional<std::string> option_meant(std::string_view given, const std::vector<std::string>& names) {
  const auto other =
      std::ranges::find(kOtherNames, given, &std::pair<std::string_view, std::string_view>::first);
  return other != kOtherNames.end() ? std::optional<std::string>(other->second) : nearest(given, names);
}

[[noreturn]] void refuse_unknown(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with('-')) {
    throw UsageError(
        fmt::format("{} is not an option; options start with --, see bench --help", quote(argument)));
  }
  // Without the dashes: what every option shares says nothing about how near two are.
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    names.push_back(option->get_lnames().front());
  }
  const std::string name = argument.substr(0, argument.find('='));
  const auto meant = option_meant(name.substr(std::min(name.find_first_not_of('-'), name.size())), names);
  throw UsageError(fmt::format("{}: there is no such option{}; see bench --help", printable(argument),
                               meant ? fmt::format(" (did you mean --{}?)", *meant) : ""));
}

// CLI11 lets a switch have a value, takes "--batch= 7" for "--batch 7", and an option may be given twice.
void refuse_misuse(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option* const option = name == argument ? nullptr : app.get_option_no_throw(name);
    if (option != nullptr && option->get_expected_max() == 0) {
      throw UsageError(fmt::format("{}: {} was given, but it takes no value; give {} alone, or leave it out",
                                   name, quote(argument.substr(name.size() + 1)), name));
    }
    if (option != nullptr && name.size() + 1 == argument.size()) {
      throw UsageError(fmt::format("{}: a value is missing; see bench --help", name));
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& given = option->results();
    const std::string name = "--" + option->get_lnames().front();
    if (std::ranges::find(given, kNoValue) != given.end()) {
      throw UsageError(fmt::format("{}: a value is missing; see bench --help", name));
    }
    if (given.size() > 1 && option->get_expected_max() > 0) {
      throw UsageError(fmt::format("{}: given {} times ({}); give it once", name, given.size(),
                                   printable(fmt::format("{}", fmt::join(given, ", ")))));
    }
  }
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) {
    refuse_unknown(app, extras.front());
  }
}

}  // namespace

const std::vector<ProgramOption>& program_options() {
  static const std::vector<ProgramOption> options = describe_options();
  return options;
}

CommandLine::CommandLine(const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();  // --help is one of our switches
  app.allow_extras();
  // `--list --gpus`, or `--gpus` alone, may do without its value.
  const bool lists_gpus = !arguments.empty() && arguments.size() <= 2 && arguments.front() == "--gpus" &&
                          (arguments.size() == 1 || is_gpu_file(arguments.back()));
  const bool is_list = lists_gpus || std::ranges::find(arguments, "--list") != arguments.end();
  const auto add = [&](const std::string& name, bool is_switch) {
    if (app.get_option_no_throw("--" + name) == nullptr) {  // sweeps share some, networks most
      app.add_option(name == "help"      ? "-h,--help"
                     : name == "version" ? "-V,--version"
                                         : "--" + name)
          ->expected(0, is_switch ? 0 : 1)
          ->default_str(is_switch || (is_list && name == "gpus") ? kYes : kNoValue)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  };
  for (const ProgramOption& option : program_options()) {
    add(option.name, option.value.empty());
  }
  const auto add_options_of = [&add](const auto& entries) {
    for (const auto& entry : entries) {
      for (const CommandOption& option : entry->options) {
        add(option.name, option.is_switch);
      }
    }
  };
  add_options_of(registry<SweepType>().entries());
  add_options_of(registry<WorkloadType>().entries());
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    add(reader->name, false);
  }
  add_options_of(registry<WorkloadReader>().entries());

  app.parse(
      std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->results().back() != kNoValue) {
      given_[option->get_lnames().front()] = option->results().back();
    }
  }
  if (lists_gpus) {
    given_["list"] = kYes;
  }
  if (!has("help") && !has("version")) {
    refuse_misuse(app, arguments);
  }
  for (const std::string& extra : app.remaining()) {
    if (extra.starts_with('-')) {
      refuse_unknown(app, extra);
    }
  }
}

const std::string* CommandLine::text_of(const std::string& option) const {
  const auto given = given_.find(option);
  return given == given_.end() ? nullptr : &given->second;
}

}  // namespace bench
