#include "bench/commands/advise.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice.h"
#include "bench/advise/advice_formats.h"
#include "bench/advise/observed.h"
#include "bench/advise/observed_advice.h"
#include "bench/advise/results_advice.h"
#include "bench/cli/options.h"
#include "bench/cli/terminal.h"
#include "bench/cli/workload_names.h"
#include "bench/clock.h"
#include "bench/commands/link_words.h"
#include "bench/commands/network_words.h"
#include "bench/commands/setup.h"
#include "bench/commands/short_sweeps.h"
#include "bench/commands/stand_in.h"
#include "bench/commands/sweep_process.h"
#include "bench/host/interrupt.h"
#include "bench/registry.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"
#include "bench/run/result_file.h"
#include "bench/run/result_folder.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"
#include "bench/workload.h"

namespace bench {
namespace {

// Of the short sweeps.
constexpr std::array<const char*, 5> kOfNetworks{"workload", "onnx", "input", "image-size", "optimizer"};

// What a sweep would refuse is refused before one runs.
void check_sweep(const ShortSweeps& sweeps) {
  if (sweeps.device != "auto" && sweeps.device != "cpu" && !sweeps.device.starts_with("cuda")) {
    const bool is_model = gpu_catalogue().find(sweeps.device) != nullptr;
    throw UsageError(fmt::format(
        "--device: {} was given; accepted: auto, cpu, cuda:N{}", quote(sweeps.device),
        is_model
            ? fmt::format("; a GPU that is not here is predicted first: bench --sweep batch --mode train "
                          "--device {}, then bench advise with that result",
                          sweeps.device)
            : ""));
  }
  if (const auto named = std::ranges::find(sweeps.workload, "--workload"); named != sweeps.workload.end()) {
    const WorkloadType* const type = workload_called(*std::next(named));
    if (type != nullptr && std::ranges::count(type->modes, "train") == 0) {
      throw UsageError(fmt::format("--workload: {} has no training step; give a network (bench --list)",
                                   quote(type->name)));
    }
  }
  std::vector<std::string> words{"bench", "--sweep", "batch", "--mode", "train", "--device", sweeps.device};
  words.insert(words.end(), sweeps.workload.begin(), sweeps.workload.end());
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  const Options options = parse_options(static_cast<int>(arguments.size()), arguments.data());
  const SweepType& type = *registry<SweepType>().find("batch");
  const auto device = open_device(sweeps.device);
  static_cast<void>(type.make(make_request(options, type, *device, steady_clock()), *device));
}

// Where no results are given: short sweeps, run here.
std::vector<std::string> measured_here(const CommandWords& words, const TrainingSettings& current) {
  const std::string* const out = words.text_of("out");
  ShortSweeps sweeps{.workload = {},
                     .current = current,
                     .out = out != nullptr ? std::filesystem::path(*out) : dated_folder("advise")};
  for (const char* const option : kOfNetworks) {
    if (const std::string* const value = words.text_of(option)) {
      sweeps.workload.insert(sweeps.workload.end(), {std::string("--") + option, *value});
    }
  }
  if (const std::string* const device = words.text_of("device")) {
    sweeps.device = *device;
  }
  if (const std::string* const budget = words.text_of("time-budget")) {
    constexpr auto kLeast = std::chrono::seconds(30);
    sweeps.time_budget = parse_duration("--time-budget", *budget);
    if (sweeps.time_budget < kLeast) {
      throw UsageError(
          fmt::format("--time-budget: {} was given; two sweeps need 30s at least", quote(*budget)));
    }
  }
  check_sweep(sweeps);
  make_new_folder(sweeps.out);
  install_interrupt_handlers();
  std::cerr << notice(STDERR_FILENO,
                      fmt::format("bench advise: short sweeps, at most {}; results in",
                                  format_duration(static_cast<double>(sweeps.time_budget.count()))),
                      sweeps.out.string());
  std::vector<std::string> files = run_short_sweeps(sweeps);
  end_when_interrupted();  // the rest is quick and writes no file
  return files;
}

// Throws UsageError for an option that `way` does not use; `mine` lists those that it uses.
void refuse_others(const Command& command, const CommandWords& words, const std::string& way,
                   const std::vector<std::string>& mine) {
  for (const Option& option : command.options) {
    if (words.has(option.name) && option.name != "format" &&
        std::ranges::find(mine, option.name) == mine.end()) {
      throw UsageError(
          fmt::format("--{}: it has no effect with {}; leave one of them out", option.name, way));
    }
  }
}

// Other numbers of cards, or what joins those that there are.
std::optional<SeveralCards> cards_asked_for(const CommandWords& words, const TrainingSettings& current) {
  if (current.cards == 1 || !words.has("link")) {
    refuse_link_without_cards(words);
  }
  if (!words.has("cards") && !words.has("link")) {
    return std::nullopt;
  }
  return SeveralCards{.cards = words.has("cards") ? cards_of(words) : std::vector<std::int64_t>(),
                      .link = link_of(words),
                      .catalogue = link_catalogue()};
}

Advice advice_asked_for(const Command& command, const CommandWords& words) {
  if (words.has_dashes()) {
    throw UsageError(fmt::format("advise: '--' is no option; accepted: bench advise {}", command.usage));
  }
  if (const std::string* const path = words.text_of("observed")) {
    refuse_others(command, words, "--observed", {"observed"});
    if (!words.before().empty()) {
      throw UsageError(fmt::format("--observed: readings are given, and {} too; give readings or results",
                                   quote(words.before().front())));
    }
    const Observed observed = read_observed(*path, std::cin);
    const std::filesystem::path folder = std::filesystem::path(*path == "-" ? "" : *path).parent_path();
    return advice_from_readings(observed, plan_stand_in(observed), read_stand_in_run(observed, folder));
  }
  const std::string* const settings = words.text_of("current");
  const TrainingSettings current =
      settings == nullptr ? TrainingSettings{} : parse_settings("--current", *settings);
  const std::optional<SeveralCards> several = cards_asked_for(words, current);
  if (!words.before().empty()) {
    refuse_others(command, words, "results", {"current", "cards", "link", "per-host", "bucket"});
    std::vector<std::string> sweeps = advising_sweeps();
    sweeps.emplace_back("cards");
    ChosenFiles chosen = results_of_sweeps(words.before(), sweeps);
    if (several) {
      for (const std::string& path : chosen.paths) {
        require_nvlink(several->link, read_result(path).context.device.name);
      }
    }
    Advice advice = advice_from_results(chosen.paths, current, several);
    std::ranges::move(chosen.left_out, std::back_inserter(advice.warnings));
    return advice;
  }
  if (!words.has("workload") && !words.has("onnx")) {
    throw UsageError(fmt::format(
        "advise: no results, readings or network are given; accepted: bench advise {}", command.usage));
  }
  return advice_from_results(measured_here(words, current), current, several);
}

ExitCode run_advise(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  const std::string format = words.choice_of("format");
  const Advice advice = advice_asked_for(command, words);
  std::cout << formatted(format,
                         {.page = [&] { return advice_page(advice); },
                          .csv = [&] { return advice_csv(advice); },
                          .json = [&] { return to_indented_text(advice_json(advice)); }},
                         terminal_width(STDOUT_FILENO));
  return ExitCode::done;
}

}  // namespace

Command advise_command() {
  Command command{
      .name = "advise",
      .usage = "[options] RESULT.json… | --workload NAME | --observed FILE",
      .brief = "RESULT…",
      .question = "what limits my training, and which changes pay?",
      .options = {{"current", "LIST", "how you train: batch=16,accumulate=8,workers=0,pin=no,dtype=fp32"},
                  {"cards", "AXIS", "consider so many cards too: 2,4"},
                  {"workload", "NAME", "without results: short sweeps of it, run here", network_names},
                  {"onnx", "FILE", "your own network in its place; --input as in a sweep"},
                  {"input", "LIST", "with --onnx: images=1x3x320x320"},
                  {"image-size", "N", "of these sweeps, as --optimizer and --device"},
                  {"optimizer", "NAME", "{}", these({"sgd", "momentum", "adam"})},
                  {"device", "ID", "auto, cpu, cuda:N", these({"auto", "cpu", "cuda:0"})},
                  {"time-budget", "TIME", "of these sweeps together (default: 4 min)"},
                  {"out", "DIR", "of their results (default: results/local/advise-DATE)"},
                  {"observed", "FILE", "readings as JSON in place of results; - reads standard input"},
                  format_option()},
      .notes =
          {"Results: one of each sweep (batch, workers, memory, transfer), of one network and machine, or of "
           "several of one model; or one of the cards sweep.",
           "Readings, by question. Workers: step_ms, data_ms, workers, host_cores. Memory: batch, "
           "memory_gib, "
           "memory_cap_gib. Duration: step_ms, iterations_to_go. More cards: step_ms, batch, cards. All of "
           "them: "
           "bench --schema observed.",
           "Exit codes: 0 done; 2 wrong usage, or results or readings that cannot be."},
      .examples = {"bench advise --workload resnet50 --current batch=16,workers=0",
                   "bench advise batch-resnet50-cuda-0.json workers-resnet50-cuda-0.json",
                   "bench advise --observed readings.json"},
      .run = run_advise};
  const std::vector<Option> link = link_options();
  command.options.insert(command.options.begin() + 2, link.begin(), link.end());
  return command;
}

}  // namespace bench
