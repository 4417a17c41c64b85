#include "bench/commands/advise.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/advise/advice_formats.h"
#include "bench/advise/measured_advice.h"
#include "bench/advise/settings.h"
#include "bench/cli/progress.h"
#include "bench/commands/short_sweeps.h"
#include "bench/commands/sweep_process.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

// Passed on to the sweeps.
constexpr const char* kOfSweeps[] = {"workload", "onnx", "input", "image-size", "optimizer", "device"};

void print(const Advice& advice, const std::string& format) {
  if (format == "json") {
    fmt::print("{}\n", advice_json(advice).dump(1));
  } else if (format == "markdown") {
    fmt::print("{}", advice_markdown(advice));
  } else {
    constexpr int kNarrow = 80;
    constexpr int kWide = 100;
    fmt::print("{}",
               advice_text(advice, static_cast<std::size_t>(std::clamp(terminal_width(), kNarrow, kWide))));
  }
}

std::string format_of(const CommandWords& words) {
  static const std::vector<std::string> accepted{"text", "markdown", "json"};
  const std::string* const given = words.text_of("format");
  if (given != nullptr && std::ranges::find(accepted, *given) == accepted.end()) {
    throw UsageError(unknown_value("--format", *given, accepted));
  }
  return given == nullptr ? "text" : *given;
}

// Without files: the sweeps are run here.
std::vector<std::string> measure(const CommandWords& words, const TrainingSettings& current) {
  ShortSweeps sweeps{.workload = {}, .current = current, .out = dated_folder("advise")};
  for (const char* const option : kOfSweeps) {
    if (const std::string* const value = words.text_of(option)) {
      sweeps.workload.insert(sweeps.workload.end(), {std::string("--") + option, *value});
    }
  }
  if (const std::string* const given = words.text_of("time-budget")) {
    sweeps.time_budget = parse_duration("--time-budget", *given);
  }
  if (const std::string* const given = words.text_of("out")) {
    sweeps.out = *given;
  }
  fmt::print(std::cerr, "bench advise: short sweeps into {}\n", sweeps.out.string());
  return run_short_sweeps(sweeps);
}

ExitCode run_advise(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  if (words.has_dashes()) {
    throw UsageError(fmt::format("advise: '--' is no option; accepted: bench advise {}", command.usage));
  }
  const std::string format = format_of(words);
  const std::string* const settings = words.text_of("current");
  const TrainingSettings current =
      settings == nullptr ? TrainingSettings{} : parse_settings("--current", *settings);
  std::vector<std::string> files = words.before();
  if (files.empty()) {
    if (!words.has("workload") && !words.has("onnx")) {
      throw UsageError(
          "advise: no results and no network; give results of bench --sweep batch, workers, …, or --workload "
          "resnet50 "
          "for short sweeps here");
    }
    files = measure(words, current);
  } else {
    for (const CommandArgument& option : command.options) {
      const bool belongs_to_sweeps = option.name != "current" && option.name != "format";
      if (belongs_to_sweeps && words.has(option.name)) {
        throw UsageError(
            fmt::format("--{}: it belongs to sweeps that are run here, and results are given; leave one out",
                        option.name));
      }
    }
  }
  print(advice_from_results(files, current), format);
  return ExitCode::done;
}

}  // namespace

Command advise_command() {
  return {
      .name = "advise",
      .usage = "[options] RESULT.json… | --workload NAME",
      .brief = "RESULT…",
      .question = "what limits a training step, and what to change",
      .options = {{"current", "LIST", "how you train: batch=16,accumulate=8,workers=0,pin=no,dtype=fp32"},
                  {"workload", "NAME", "without results: run short sweeps of it here"},
                  {"onnx", "FILE", "your own network in its place"},
                  {"input", "LIST", "with --onnx: images=1x3x320x320"},
                  {"image-size", "N", "pixels a side"},
                  {"optimizer", "NAME", "sgd, momentum or adam"},
                  {"device", "NAME", "auto, cpu, cuda:N (default: auto)"},
                  {"time-budget", "TIME", "of the short sweeps together (default: 4 min)"},
                  {"out", "DIR", "of their results (default: results/local/advise-DATE)"},
                  {"format", "NAME", "text, markdown or json (default: text)"}},
      .notes =
          {"Results are of one machine and one network, one of each sweep: batch (--mode train), workers, "
           "transfer, memory. Changes are compared by the time of a sample, and combine in a simulation of "
           "the step. Intervals are 90 %.",
           "Exit codes: 0 done; 2 wrong usage, or results that cannot be read or do not belong together."},
      .examples = {"bench advise --workload resnet50 --current batch=16,workers=0",
                   "bench advise batch-resnet50-cuda-0.json workers-resnet50-cuda-0.json"},
      .run = run_advise};
}

}  // namespace bench
