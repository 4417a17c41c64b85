#include "bench/commands/inspect.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "bench/cli/option_values.h"
#include "bench/cli/options.h"
#include "bench/cli/terminal.h"
#include "bench/cli/workload_names.h"
#include "bench/commands/inspect_report.h"
#include "bench/commands/network_words.h"
#include "bench/commands/setup.h"
#include "bench/predicted_step.h"
#include "bench/registry.h"
#include "bench/result/result_json.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

constexpr std::size_t kMostInspected = 16;

// Whose ending the path has; else the only one there is.
const WorkloadReader* reader_of(const std::string& path) {
  const auto& readers = registry<WorkloadReader>();
  const std::string ending = std::filesystem::path(path).extension().string();
  const WorkloadReader* const of_ending = ending.empty() ? nullptr : readers.find(ending.substr(1));
  std::error_code error;
  const bool is_path =
      of_ending != nullptr || path.find('/') != std::string::npos || std::filesystem::exists(path, error);
  return !is_path || readers.entries().empty() ? nullptr
         : of_ending != nullptr                ? of_ending
                                               : readers.entries().front().get();
}

class Inspection {
 public:
  Inspection(const Command& command, const CommandWords& words)
      : words_(words), format_(words.choice_of("format")) {
    if (words.before().size() != 1 || words.has_dashes()) {
      throw UsageError(fmt::format("inspect: {} networks were given; accepted: bench inspect {}",
                                   words.before().size() + words.after().size(), command.usage));
    }
    target_ = words.before().front();
    if (const std::string* dtype = words.text_of("dtype")) {
      dtype_ = dtype_of(*dtype);
    }
    if (const std::string* batches = words.text_of("batch")) {
      batches_ = parse_axis("--batch", *batches);
      if (batches_.size() > kMostInspected) {
        throw UsageError(fmt::format("--batch: {} was given, {} batches; accepted: at most {}",
                                     quote(*batches), batches_.size(), kMostInspected));
      }
    }
  }

  ExitCode run() {
    read_workload();
    if (type_ == nullptr) {  // some of its nodes have no layer, and are printed
      return ExitCode::usage;
    }
    const std::vector<std::string> modes = modes_asked_for();
    check_network_options(words_, *type_, modes);
    const std::string* const id = words_.text_of("device");
    const auto device = open_planned_device(id == nullptr ? "cpu" : *id);
    InspectReport report{.workload = type_->name,
                         .file = type_->file,
                         .missing_modes = type_->missing_modes,
                         .device = device->info().id,
                         .dtype = std::string(name_of(dtype_)),
                         .composed_mode = modes.front(),
                         .composed_batch = batches_.front(),
                         .composition = {},
                         .steps = {}};
    report.counts_context = counts_context(*device);
    compose(*device, report);
    for (const std::string& mode : modes) {
      const auto workload = type_->configure(network_spec(words_, *type_, mode, dtype_, batches_.front()));
      report.folded_norms += folded_norms_in_words(*workload, mode, *device);
      for (const std::int64_t batch : batches_) {
        report.steps.push_back(step_of(*device, mode, batch));
      }
    }
    print(report);
    return ExitCode::done;
  }

 private:
  void print(const auto& report) const {
    std::cout << formatted(format_,
                           {.page = [&] { return page_of(report); },
                            .csv = [&] { return to_csv(report); },
                            .json = [&] { return to_indented_text(to_json(report)); }},
                           terminal_width(STDOUT_FILENO));
  }

  void read_workload() {
    if (const WorkloadType* const known = workload_called(target_)) {
      if (!is_network(*known)) {
        throw UsageError(fmt::format("inspect: {} is a single operation; accepted: {}, or a file",
                                     quote(target_), fmt::join(network_names(), ", ")));
      }
      refuse_reading_options(words_, target_);
      type_ = known;
      return;
    }
    const WorkloadReader* const reader = reader_of(target_);
    if (reader == nullptr) {
      std::vector<std::string> accepted = network_names();
      accepted.emplace_back("or a file");
      throw UsageError(unknown_workload("inspect", target_, accepted));
    }
    const std::map<std::string, std::string> given = reading_options(words_, *reader);
    try {
      read_file(*reader, given);
    } catch (const UsageError& error) {
      throw UsageError(without_option(error.what(), reader->name));
    }
  }

  void read_file(const WorkloadReader& reader, const std::map<std::string, std::string>& given) {
    try {
      own_ = reader.read(target_, given);
      type_ = &*own_;
    } catch (const UsageError&) {
      const UnsupportedPart part = reader.unsupported(target_, given);
      if (part.nodes.empty()) {
        throw;
      }
      print(UnsupportedReport{.path = target_, .part = part});
    }
  }

  // Readers name the option of a sweep that gives the file; here it is an argument.
  static std::string without_option(const std::string& message, const std::string& reader) {
    const std::string option = fmt::format("--{}: ", reader);
    return message.starts_with(option) ? message.substr(option.size()) : message;
  }

  // All of the network's where none is asked for.
  std::vector<std::string> modes_asked_for() const {
    const std::string* const mode = words_.text_of("mode");
    if (mode == nullptr) {
      return type_->modes;
    }
    check_mode(*type_, *mode);
    return {*mode};
  }

  void compose(Device& device, InspectReport& report) const {
    const auto workload =
        type_->configure(network_spec(words_, *type_, report.composed_mode, dtype_, report.composed_batch));
    report.composition = workload->composition(device).value_or(Composition{});
  }

  InspectedStep step_of(Device& device, const std::string& mode, std::int64_t batch) const {
    InspectedStep step{.mode = mode, .batch = batch, .memory = {}, .problem = {}};
    const WorkloadSpec spec = network_spec(words_, *type_, mode, dtype_, batch);
    const auto workload = type_->configure(spec);
    if (const auto reason = unsupported_on(device, *workload, spec)) {
      step.problem = "unsupported: " + *reason;
      return step;
    }
    try {
      step.memory = plan_on(device, *workload, spec);
    } catch (const Unsupported& error) {
      step.problem = fmt::format("unsupported: {}", error.what());
    } catch (const OutOfMemory& error) {
      step.problem = fmt::format("out of memory: {}", error.what());
    }
    return step;
  }

  const CommandWords& words_;
  std::string format_;
  std::string target_;
  Dtype dtype_ = Dtype::fp32;
  std::vector<std::int64_t> batches_{1, 8, 32};
  std::optional<WorkloadType> own_;     // read from a file
  const WorkloadType* type_ = nullptr;  // it, or a registered one
};

ExitCode run_inspect(const Command& command, const std::vector<std::string>& words) {
  return Inspection(command, CommandWords(command, words)).run();
}

}  // namespace

Command inspect_command() {
  Command command{
      .name = "inspect",
      .usage = "[options] NETWORK|FILE",
      .brief = "NETWORK|FILE",
      .question = "what is a network made of, and what would fill the memory?",
      .options =
          {{"batch", "AXIS", "1,2,4 or 1:256:x2 or 8:64:+8 (default: 1,8,32)"},
           {"dtype", "NAME", "one of fp32, tf32, fp16, bf16 (default: fp32)",
            these({"fp32", "tf32", "fp16", "bf16"})},
           {"mode", "NAME", "{} (default: all that it has)", these({"infer", "train"})},
           {"device", "ID",
            "that the memory is planned for: cpu, or a GPU of bench --list --gpus, as rtx3070 (default: "
            "cpu)"},
           format_option()},
      .notes = {"FILE is read as bench --sweep NAME --onnx FILE does. Nothing is run, and no "
                "weights are needed.",
                "Exit codes: 0 done; 2 wrong usage, or a file that cannot be read or has nodes "
                "that no layer here computes, each of which is named."},
      .examples = {"bench inspect net.onnx",
                   "bench inspect resnet50 --batch 1:64:x4 --mode train --optimizer adam",
                   "bench inspect net.onnx --input images=1x3x320x320 --format json"},
      .run = run_inspect};
  for (Option& argument : network_arguments()) {
    command.options.push_back(std::move(argument));
  }
  return command;
}

}  // namespace bench
