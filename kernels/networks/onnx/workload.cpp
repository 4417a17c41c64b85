// ONNX files as workloads: --onnx net.onnx, with every mode and option that networks have.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/quote.h"
#include "bench/workload_reader.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/onnx/input_sizes.h"
#include "kernels/networks/onnx/inputs.h"
#include "kernels/networks/onnx/model.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels::onnx {
namespace {

using GivenOptions = std::map<std::string, std::string>;

constexpr const char* kInput = "input";
constexpr std::size_t kHashDigits = 8;

ImportOptions import_options(const std::string& path, const GivenOptions& given) {
  ImportOptions options;
  if (const auto input = given.find(kInput); input != given.end()) {
    const Model model = read_model(path);
    std::vector<std::string> names;
    for (const ValueInfo& value : model.graph.inputs) {
      names.push_back(value.name);
    }
    options.inputs = input_sizes(
        input->second, names, names.empty() ? "NAME=1x3x224x224" : example_sizes(model.graph.inputs.front()));
  }
  return options;
}

// The part of a file's name that may stand in a point's name and in a result's file name.
std::string short_name(const std::string& stem) {
  constexpr std::size_t kLongest = 60;
  std::string name;
  for (const char c : stem) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (plain || (!name.empty() && name.back() != '-')) {
      name += plain ? c : '-';
    }
  }
  name.resize(std::min(name.size(), kLongest));
  while (name.ends_with('-')) {
    name.pop_back();
  }
  return name.empty() ? "network" : name;
}

// "images=1x3x320x320": the sizes that were taken, as --input accepts them.
std::string sizes_taken(const std::vector<ImportedInput>& inputs) {
  std::string text;
  for (const ImportedInput& input : inputs) {
    std::string sizes = input.shape;
    for (const auto& [from, to] : {std::pair("batch", "1"), std::pair(" ", "")}) {
      for (std::size_t at = sizes.find(from); at != std::string::npos; at = sizes.find(from)) {
        sizes.replace(at, std::string(from).size(), to);
      }
    }
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", input.name, sizes);
  }
  return text;
}

WorkloadFile file_of(const std::string& path, const ImportedNetwork& network) {
  const std::size_t stem = network.name.size() - std::min(network.name.size(), kHashDigits + 1);
  WorkloadFile file{
      .format = "onnx",
      .path = path,
      .name = short_name(network.name.substr(0, stem)),
      .hash = network.name.substr(network.name.size() - std::min(network.name.size(), kHashDigits)),
      .inputs = {},
      .assumptions = network.assumptions};
  for (const ImportedInput& input : network.inputs) {
    file.inputs.push_back({.name = input.name, .shape = input.shape, .content = input.content});
  }
  return file;
}

WorkloadType read(const std::string& path, const GivenOptions& given) {
  ImportedNetwork network = import_network(path, import_options(path, given));
  const WorkloadFile file = file_of(path, network);
  const auto graph = std::make_shared<const bench::kernels::Graph>(std::move(network.graph));
  WorkloadType type =
      network_workload(NetworkSource{.name = fmt::format("{}-{}", file.name, file.hash),
                                     .description = fmt::format("{} node{}", graph->nodes().size() - 1,
                                                                graph->nodes().size() == 2 ? "" : "s"),
                                     .options = {{.name = kInput,
                                                  .default_value = sizes_taken(network.inputs),
                                                  .help = "sizes of the inputs, for one sample"}},
                                     .build = [graph](const WorkloadSpec& /*spec*/) { return *graph; },
                                     .is_file = true});
  if (const auto reason = why_not_trained(*graph)) {
    type.modes = {"infer"};
    std::erase_if(type.options, [](const CommandOption& option) { return option.mode == "train"; });
    type.missing_modes["train"] = *reason;
  }
  type.file = file;
  return type;
}

UnsupportedPart unsupported(const std::string& path, const GivenOptions& given) {
  const UnsupportedNodes found = unsupported_nodes(path, import_options(path, given));
  UnsupportedPart part{.nodes = {}, .of = found.of};
  for (const Unsupported& node : found.nodes) {
    part.nodes.push_back({.name = node.node, .operation = node.op, .reason = node.reason});
  }
  return part;
}

const Registration<WorkloadReader> BENCH_REGISTERED{WorkloadReader{
    .name = "onnx",
    .description = "your own network, in an ONNX file, in place of --workload",
    .options = {{.name = kInput, .default_value = "", .help = "sizes of inputs, as images=1x3x320x320"}},
    .read = read,
    .unsupported = unsupported}};

}  // namespace
}  // namespace bench::kernels::onnx
