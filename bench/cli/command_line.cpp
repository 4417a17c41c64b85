#include "bench/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/options.h"
#include "bench/cli/suggest.h"
#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {
namespace {

std::vector<ProgramOption> describe_options() {
  const Options defaults;
  const auto budget = static_cast<double>(defaults.time_budget.count());
  return {
      {"sweep", "NAME", "the question to answer"},
      {"workload", "NAME", "network or operation (default: the sweep's)"},
      {"device", "ID", fmt::format("auto, cpu or cuda:N (default: {})", defaults.device)},
      {"mode", "NAME", "what a step is; see --workload NAME --help"},
      {"dtype", "LIST", "of fp32, tf32, fp16, bf16 (default: those the device has)"},
      {"batch", "AXIS", "1,2,4 or 1:256:x2 or 8:64:+8 (default: doubling)"},
      {"memory-cap", "SIZE", "most memory of a point (default: 80 % of what is free)"},
      {"time-budget", "TIME", fmt::format("end measuring after this (default: {})", format_duration(budget))},
      {"seed", "N", fmt::format("of inputs and of the order of points (default: {})", defaults.seed)},
      {"out", "DIR", fmt::format("folder of result and picture (default: {})", defaults.out.string())},
      {"no-plot", "", "draw no picture"},
      {"verbose", "", "print every finding, not only the answer"},
      {"dry-run", "", "list the points and their predicted memory; run nothing"},
      {"resume", "", "keep the points the result file has already"},
      {"list", "", "list the sweeps, workloads and devices"},
      {"version", "", "print the version"},
      {"help", "", "print the help, of a sweep or workload where one is given"},
  };
}

// The text of an option is the next argument, unless that is an option itself.
bool is_option(std::string_view argument) {
  return argument.starts_with("--");
}

}  // namespace

const std::vector<ProgramOption>& program_options() {
  static const std::vector<ProgramOption> options = describe_options();
  return options;
}

CommandLine::CommandLine(const std::vector<std::string>& arguments) {
  for (const ProgramOption& option : program_options()) {
    options_["--" + option.name].is_switch = option.value.empty();
  }
  const auto add = [this](const auto& entries) {
    for (const auto& entry : entries) {
      for (const CommandOption& option : entry->options) {
        options_["--" + option.name].is_switch = option.is_switch;
      }
    }
  };
  add(registry<SweepType>().entries());
  add(registry<WorkloadType>().entries());

  std::string problem;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string wrong = take(arguments, at);
    if (problem.empty()) {
      problem = wrong;
    }
  }
  if (!problem.empty() && !has("help") && !has("version")) {
    throw UsageError(problem);
  }
}

std::string CommandLine::take(const std::vector<std::string>& arguments, std::size_t& at) {
  const std::string& argument = arguments[at] == "-h" ? "--help" : arguments[at];
  if (!argument.starts_with('-')) {
    return fmt::format("{} is not an option; options start with --, see bench --help", quote(argument));
  }
  const std::size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const auto known = options_.find(name);
  if (known == options_.end()) {
    return unknown(argument);
  }
  auto& [is_switch, given] = known->second;
  const bool has_text = equals != std::string::npos;
  const std::string text = has_text ? argument.substr(equals + 1) : "";
  if (is_switch && has_text) {
    return fmt::format("{}: {} was given, but it takes no value; give {} alone, or leave it out", name,
                       quote(text), name);
  }
  if (is_switch) {
    given = {"yes"};
    return "";
  }
  const bool follows = !has_text && at + 1 < arguments.size();
  if (follows && is_option(arguments[at + 1])) {
    return fmt::format("{}: a value is missing before {}; see bench --help", name,
                       printable(arguments[at + 1]));
  }
  if (has_text ? text.empty() : !follows) {
    return fmt::format("{}: a value is missing; see bench --help", name);
  }
  given.push_back(has_text ? text : arguments[++at]);
  return given.size() == 1 ? ""
                           : fmt::format("{}: given {} times ({}); give it once", name, given.size(),
                                         printable(fmt::format("{}", fmt::join(given, ", "))));
}

std::string CommandLine::unknown(std::string_view argument) const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_) {
    names.push_back(name);
  }
  const auto meant = nearest(argument.substr(0, argument.find('=')), names);
  return fmt::format("{}: there is no such option{}; see bench --help", printable(argument),
                     meant ? fmt::format(" (did you mean {}?)", *meant) : "");
}

const std::string* CommandLine::text_of(const std::string& option) const {
  const std::vector<std::string>& given = options_.at("--" + option).given;
  return given.empty() ? nullptr : &given.back();
}

}  // namespace bench
