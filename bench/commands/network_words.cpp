#include "bench/commands/network_words.h"
#include "bench/cli/option.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/cli/workload_names.h"
#include "bench/model/gpu_model.h"
#include "bench/model/network_terms.h"
#include "bench/registry.h"
#include "bench/run/gpu_files.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Of a reader; the workload that it read has what it took as its default.
bool is_of_reading(const std::string& option) {
  return std::ranges::any_of(registry<WorkloadReader>().entries(), [&](const auto& reader) {
    return std::ranges::find(reader->options, option, &CommandOption::name) != reader->options.end();
  });
}

}  // namespace

bool is_network(const WorkloadType& type) {
  return type.kind == "network";
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const auto& type : registry<WorkloadType>().entries()) {
    if (is_network(*type)) {
      names.push_back(type->name);
    }
  }
  return names;
}

std::vector<std::string> gpus_to_predict() {
  std::vector<std::string> names = gpu_ids();
  names.emplace_back("all");
  return names;
}

std::vector<CommandOption> network_options() {
  std::vector<CommandOption> options;
  for (const auto& type : registry<WorkloadType>().entries()) {
    for (const CommandOption& option : is_network(*type) ? type->options : std::vector<CommandOption>{}) {
      const auto known = std::ranges::find(options, option.name, &CommandOption::name);
      if (known == options.end()) {
        options.push_back(option);
        continue;
      }
      if (known->default_value != option.default_value) {
        known->default_value.clear();
      }
      if (known->help != option.help) {  // the range that follows is one network's
        known->help.resize(std::min(known->help.find(", "), known->help.size()));
      }
    }
  }
  return options;
}

std::vector<Option> network_arguments() {
  std::vector<Option> arguments;
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    for (const CommandOption& option : reader->options) {
      arguments.push_back({option.name, "LIST", fmt::format("{}, of a file", option.help)});
    }
  }
  for (const CommandOption& option : network_options()) {
    const std::string only = option.mode.empty() ? "" : fmt::format("; --mode {} only", option.mode);
    const std::string usual = option.default_value.empty() ? "the network's" : option.default_value;
    const std::string value = option.default_value.empty() ? "N" : value_name(option);
    constexpr std::size_t kShort = 14;  // that a help shows in its left column
    const bool is_short = value.size() <= kShort;
    arguments.push_back(
        {option.name, is_short ? value : "NAME",
         fmt::format("{}{} (default: {}{})", is_short ? "" : "{}, ", option.help, usual, only),
         option.words});
  }
  return arguments;
}

std::map<std::string, std::string> reading_options(const CommandWords& words, const WorkloadReader& reader) {
  std::map<std::string, std::string> given;
  for (const CommandOption& option : reader.options) {
    if (const std::string* text = words.text_of(option.name)) {
      given[option.name] = *text;
    }
  }
  return given;
}

void refuse_reading_options(const CommandWords& words, const std::string& network) {
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    for (const auto& [option, text] : reading_options(words, *reader)) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to a file; {} is none", option,
                                   quote(text), quote(network)));
    }
  }
}

void check_network_options(const CommandWords& words, const WorkloadType& type,
                           const std::vector<std::string>& modes) {
  for (const CommandOption& option : network_options()) {
    const std::string* const text = words.text_of(option.name);
    const auto own = std::ranges::find(type.options, option.name, &CommandOption::name);
    if (text != nullptr && own == type.options.end()) {
      throw UsageError(missing_option(type, option.name, *text));
    }
    if (text != nullptr && !own->mode.empty() && std::ranges::count(modes, own->mode) == 0) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to --mode {}; give that with it",
                                   option.name, quote(*text), own->mode));
    }
  }
}

WorkloadSpec network_spec(const CommandWords& words, const WorkloadType& type, const std::string& mode,
                          Dtype dtype, std::int64_t batch) {
  WorkloadSpec spec{.mode = mode, .dtype = dtype, .batch = batch, .options = {}};
  for (const CommandOption& option : type.options) {
    if (option.mode.empty() || option.mode == mode) {
      const std::string* const text = is_of_reading(option.name) ? nullptr : words.text_of(option.name);
      spec.options[option.name] = text == nullptr ? option.default_value : *text;
    }
  }
  return spec;
}

std::string folded_norms_in_words(const ConfiguredWorkload& workload, const std::string& mode,
                                  const Device& device) {
  const std::optional<NetworkTerms> terms =
      mode == "train" ? workload.eager_terms({}) : std::optional<NetworkTerms>();
  if (!terms || (!terms->may_lack_norms && !terms->norms_put_back)) {
    return "";
  }
  return fmt::format(
      "{}; {}.",
      terms->norms_put_back ? "The file's exporter folded batch norms into its convolutions"
                            : "The file has no batch norms, which its exporter may have folded",
      device.model() != nullptr
          ? "memory is planned with them, since training needs them"
          : "training with them takes more memory than this plan: export with TrainingMode.PRESERVE");
}

bool counts_context(const Device& device) {
  return device.model() != nullptr && device.model()->framework() != Framework::bench;
}

void name_context(TextTable& table) {
  for (Cell& cell : table.rows.front()) {
    if (cell.text == name_of(MemoryCategory::other)) {
      cell = Cell("context");
      table.below = "context: the driver's and the framework's own; cuDNN's workspace is within activations";
    }
  }
}

}  // namespace bench
