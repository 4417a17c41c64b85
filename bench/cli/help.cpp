#include "bench/cli/help.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/command.h"
#include "bench/cli/command_line.h"
#include "bench/cli/terminal.h"
#include "bench/registry.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

constexpr std::size_t kColumn = 22;  // where an option's words begin

std::size_t width() {
  constexpr std::size_t kWidest = 100;
  return std::min(terminal_width(STDOUT_FILENO), kWidest);
}

constexpr const char* kUsage = "Usage: bench --sweep NAME [options]   measure; print the answer; write JSON";

std::string examples() {
  constexpr std::size_t kBehind = 6;  // of what a narrow terminal wraps
  const auto next = [](std::string_view example) { return "  " + wrap(example, width() - 2, kBehind); };
  return wrap("Examples: bench --sweep batch --workload resnet50 --mode train --quick (an answer in 10 s)",
              width(), kBehind) +
         next("bench --sweep memory --onnx net.onnx --device t4 --dry-run (which batch fits?)") +
         next("bench predict --workload resnet50 --gpu t4,h100-sxm (how fast on other GPUs?)") +
         wrap(
             "More: bench --list, bench --help --verbose, bench --sweep NAME --help, bench --workload NAME "
             "--help",
             width(), 2);
}

constexpr std::array<std::string_view, 3> kNotes{
    "Sizes take B, KiB, MiB, GiB, TiB, KB, MB, GB, TB (12G is 12GiB); times take ms, s, min.",
    "Exit codes: 0 done; 1 a comparison found a regression; 2 wrong usage, or input that cannot be read; "
    "3 inconclusive, or a point in error; 4 not comparable; 130 interrupted, what was measured is saved.",
    "Files: results are in --out; bench --list ends with what is kept from run to run. Nothing else is "
    "written: to remove "
    "bench, delete these and the folder it was unpacked into, or uninstall the package bench-gpu."};

std::string line_of(const Option& option) {
  return hanging("  " + left_of(option), help_of(option), kColumn, width());
}

std::string lines_of(const std::vector<CommandOption>& options) {
  std::string text;
  for (const CommandOption& option : options) {
    text += line_of(option_of(option));
  }
  return text;
}

// The options that everyone needs; the rest is in a sweep's help.
constexpr std::array<std::string_view, 3> kNeeded{"workload", "device", "dtype"};

// No part of a sweep's own page: they name the sweep, or run none.
bool is_of_every_sweep(const Option& option) {
  return option.name != "sweep" && option.name != "list" && option.name != "gpus" &&
         option.name != "completion" && option.name != "schema" && option.name != "version" &&
         option.name != "explain" && option.name != "help";
}

// Behind --workload, what may be given in its place.
std::string line_of_program(Option option) {
  option.letter = 0;
  std::string text = line_of(option);
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    text += option.name == "workload" ? line_of({reader->name, "FILE", reader->description}) : "";
  }
  return text;
}

// In one line.
Option with_file(Option option) {
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    option.help += option.name == "workload" ? fmt::format("; --{} FILE: your own", reader->name) : "";
  }
  return option;
}

std::string in_full(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    text += line_of_program(option);
  }
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    for (const CommandOption& option : reader->options) {
      text += line_of({option.name, "LIST", fmt::format("{}; with --{} only", option.help, reader->name)});
    }
  }
  return text;
}

std::string notes() {
  std::string text;
  for (const std::string_view note : kNotes) {
    text += wrap(note, width(), 2);
  }
  return text;
}

std::string option_names() {
  std::vector<std::string> names;
  for (const Option& option : program_options()) {
    if (is_of_every_sweep(option) && !option.takes_equals) {
      names.push_back("--" + option.name);
    }
    if (option.name == "workload") {
      for (const auto& reader : registry<WorkloadReader>().entries()) {
        names.push_back("--" + reader->name);
      }
    }
  }
  return "  " + wrap(fmt::format("{} --benchmark_…", fmt::join(names, " ")), width() - 2, 2);
}

}  // namespace

std::string help(bool verbose) {
  std::string text =
      wrap("Measures a network on a device of this machine, and says what to do about it.", width(), 2);
  // In a narrow terminal a command's words are in the line below it.
  constexpr std::size_t kWords = 39;
  constexpr std::size_t kIndent = 9;
  const std::size_t column = width() >= 2 * kWords ? kWords : kIndent;
  text += hanging("Usage: bench --sweep NAME [options]", "measure; print the answer; write JSON", column,
                  width());
  for (const Command& command : commands()) {
    text += hanging(fmt::format("       bench {} {}", command.name, command.brief), command.question, column,
                    width());
  }
  text += "Sweeps\n";
  for (const auto& sweep : registry<SweepType>().entries()) {
    text += hanging("  " + sweep->name, sweep->question, 15, width());
  }
  if (verbose) {
    return text + "Options\n" + in_full(program_options()) + notes() + "\n" + examples();
  }
  for (const std::string_view needed : kNeeded) {
    for (const Option& option : program_options()) {
      text += option.name == needed ? line_of(with_file(option)) : "";
    }
  }
  return text + examples();  // one screen: no empty line before them
}

std::string help_of(const SweepType& sweep, bool verbose) {
  std::string text = wrap(fmt::format("bench --sweep {}: {}", sweep.name, sweep.question), width(), 2);
  std::vector<std::string_view> covered;
  for (const WorkloadType* workload : covered_workloads(sweep)) {
    covered.push_back(workload->name);
  }
  text += !sweep.takes_workload ? ""
          : covered.empty()
              ? wrap(fmt::format("Default workload: {} (bench --workload {} --help)", sweep.default_workload,
                                 sweep.default_workload),
                     width(), 2)
              : wrap(fmt::format("Default workloads: {}", fmt::join(covered, ", ")), width(), 2);
  if (sweep.takes_lists) {
    text += wrap("--mode, --memory-cap and a workload's options take several values, separated by commas.",
                 width(), 0);
  }
  if (sweep.serve) {
    text += wrap("On the CPU a host's ranks share --memory-cap: each of n has an n-th of it.", width(), 0);
  }
  if (!sweep.options.empty()) {
    text += fmt::format("\nOptions of {}\n", sweep.name);
  }
  text += lines_of(sweep.options);
  if (!verbose) {
    return text + "\n" + wrap("Options of every sweep (in full: bench --help --verbose)", width(), 2) +
           option_names();
  }
  std::vector<Option> common;
  std::ranges::copy_if(program_options(), std::back_inserter(common), is_of_every_sweep);
  return text + "\nOptions of every sweep\n" + in_full(common) + notes();
}

namespace {

// "--mode infer|train (default: infer; --sweep memory: all)".
std::string mode_line(const WorkloadType& workload) {
  std::string modes = fmt::format("--mode {}", fmt::join(workload.modes, "|"));
  if (workload.modes.size() == 1) {
    return modes;
  }
  std::vector<std::string> takers_of_all;
  for (const auto& sweep : registry<SweepType>().entries()) {
    if (sweep->takes_lists) {
      takers_of_all.push_back(sweep->name);
    }
  }
  return fmt::format(
      "{} (default: {}{})", modes, workload.modes.front(),
      takers_of_all.empty() ? "" : fmt::format("; with --sweep {}: all", fmt::join(takers_of_all, "|")));
}

}  // namespace

std::string help_of(const WorkloadType& workload) {
  std::string text = workload.file ? wrap(fmt::format("bench --{0} {1}: {4} {2}, {3}", workload.file->format,
                                                      printable(workload.file->path), workload.name,
                                                      workload.description, workload.kind),
                                          width(), 2)
                                   : wrap(fmt::format("bench --workload {}, {}: {}", workload.name,
                                                      workload.kind, workload.description),
                                          width(), 2);
  text += wrap(mode_line(workload), width(), 2);
  text += workload.options.empty() ? "" : "\nOptions\n";
  return text + lines_of(workload.options);
}

std::vector<std::string_view> help_notes() {
  return {kNotes.begin(), kNotes.end()};
}

const char* usage() {
  return kUsage;
}

}  // namespace bench
