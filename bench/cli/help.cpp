#include "bench/cli/help.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/command_line.h"
#include "bench/cli/progress.h"
#include "bench/cli/text.h"
#include "bench/registry.h"

namespace bench {
namespace {

constexpr std::size_t kColumn = 22;  // where an option's words begin

std::size_t width() {
  return static_cast<std::size_t>(std::clamp(terminal_width(), 80, 100));
}

constexpr const char* kUsage =
    "Usage: bench --sweep NAME [options]   measure; print the answer; write JSON\n"
    "       bench --list                   the sweeps, workloads and devices here";

constexpr const char* kExamples = R"(
Examples
  bench --sweep batch --workload resnet18 --dtype fp32,bf16
  bench --sweep memory --workload resnet50 --mode train --memory-cap 8GiB,12GiB
  bench --sweep workers --consumer 40ms --workers 0,1,2,4,8
More: bench --help --verbose, bench --sweep NAME --help, bench --workload NAME --help; docs/
)";

constexpr std::array<std::string_view, 3> kNotes{
    "Sizes take B, KiB, MiB, GiB, KB, MB, GB; times take ms, s, min.",
    "Google Benchmark's options work: --benchmark_filter=REGEX, --benchmark_list_tests, "
    "--benchmark_format=console|json|csv, --benchmark_out=FILE, --benchmark_out_format=console|json|csv, "
    "--benchmark_repetitions=N (N rounds, at least 3).",
    "Exit codes: 0 done; 2 wrong usage or unreadable input; 3 inconclusive, or a point in error; 130 "
    "interrupted, what was measured is saved."};

std::string line_of(std::string_view name, std::string_view value, std::string_view help) {
  const std::string left = fmt::format("  --{}{}{}", name, value.empty() ? "" : " ", value);
  return hanging(left, help, kColumn, width());
}

std::string line_of(const CommandOption& option) {
  const std::string only = option.mode.empty() ? "" : fmt::format("; --mode {} only", option.mode);
  return option.is_switch
             ? line_of(option.name, "", option.help)
             : line_of(option.name, value_name(option),
                       fmt::format("{} (default: {}{})", option.help, option.default_value, only));
}

// The options that everyone needs; the rest is in a sweep's help.
constexpr std::array<std::string_view, 6> kNeeded{"workload", "device",     "dtype",
                                                  "batch",    "memory-cap", "time-budget"};

// Every option of the program in full, with units, other programs' options and exit codes.
std::string all_options() {
  std::string text;
  for (const ProgramOption& option : program_options()) {
    text += line_of(option.name, option.value, option.help);
  }
  for (const std::string_view note : kNotes) {
    text += wrap(note, width(), 2);
  }
  return text;
}

std::string option_names() {
  std::vector<std::string> names;
  for (const ProgramOption& option : program_options()) {
    if (option.name != "sweep" && option.name != "list" && option.name != "version") {
      names.push_back("--" + option.name);
    }
  }
  return "  " + wrap(fmt::format("{} --benchmark_…", fmt::join(names, " ")), width() - 2, 2);
}

}  // namespace

std::string help(bool verbose) {
  std::string text = "Measures a network on a device of this machine, and says what to do about it.\n";
  text += fmt::format("{}\nSweeps\n", kUsage);
  for (const auto& sweep : registry<SweepType>().entries()) {
    text += hanging("  " + sweep->name, sweep->question, 12, width());
  }
  text += "Options\n";
  if (verbose) {
    return text + all_options() + kExamples;
  }
  for (const std::string_view needed : kNeeded) {
    for (const ProgramOption& option : program_options()) {
      text += option.name == needed ? line_of(option.name, option.value, option.help) : "";
    }
  }
  return text + (kExamples + 1);  // one screen: no empty line before them
}

std::string help_of(const SweepType& sweep, bool verbose) {
  std::string text = wrap(fmt::format("bench --sweep {}: {}", sweep.name, sweep.question), width(), 2);
  text +=
      !sweep.covers
          ? fmt::format("Default workload: {} (bench --workload {} --help)\n", sweep.default_workload,
                        sweep.default_workload)
          : wrap(fmt::format("Default workloads: {}", fmt::join(covered_workloads(sweep), ", ")), width(), 2);
  if (sweep.takes_lists) {
    text += wrap("--mode, --memory-cap and a workload's options take several values, separated by commas.",
                 width(), 0);
  }
  if (!sweep.options.empty()) {
    text += fmt::format("\nOptions of {}\n", sweep.name);
  }
  for (const CommandOption& option : sweep.options) {
    text += line_of(option);
  }
  const std::string in_full = text + "\nOptions of every sweep\n" + all_options();
  constexpr std::ptrdiff_t kScreen = 40;
  return verbose || std::ranges::count(in_full, '\n') <= kScreen
             ? in_full
             : text + "\nOptions of every sweep (bench --help --verbose)\n" + option_names();
}

std::string help_of(const WorkloadType& workload) {
  std::string text =
      wrap(fmt::format("bench --workload {}: {} ({})", workload.name, workload.description, workload.kind),
           width(), 2);
  text += wrap(fmt::format("--mode {} (default: the sweep's)", fmt::join(workload.modes, "|")), width(), 2);
  text += workload.options.empty() ? "" : "\nOptions\n";
  for (const CommandOption& option : workload.options) {
    text += line_of(option);
  }
  return text;
}

const char* usage() {
  return kUsage;
}

}  // namespace bench
