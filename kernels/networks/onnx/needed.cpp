#include "kernels/networks/onnx/needed.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

// What a graph reads or returns, and those nested in it.
void count_readers(Importing& network, const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      network.readers[input].push_back(&node);
    }
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph != nullptr) {
        count_readers(network, *attribute.graph);
      }
    }
  }
  for (const ValueInfo& output : graph.outputs) {
    network.readers[output.name].push_back(nullptr);
  }
}

}  // namespace

void count_readers(Importing& network) {
  count_readers(network, network.model.graph);
}

std::string find_needed(Importing& network, const std::string& file) {
  const Graph& graph = network.model.graph;
  if (graph.outputs.empty()) {
    throw UsageError(fmt::format("{}: it has no output", file));
  }
  const auto chosen = std::ranges::find_if(graph.outputs, [](const ValueInfo& output) {
    return is_float(output.type) || output.type == ElementType::undefined;
  });
  const std::string result = chosen == graph.outputs.end() ? graph.outputs.front().name : chosen->name;
  std::set<std::string> names{result};
  const auto need = [&](const auto& self, const Node& node) -> void {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
      for (const Node& nested : attribute.graph != nullptr ? attribute.graph->nodes : std::vector<Node>{}) {
        self(self, nested);
      }
      for (const ValueInfo& output :
           attribute.graph != nullptr ? attribute.graph->outputs : std::vector<ValueInfo>{}) {
        names.insert(output.name);
      }
    }
  };
  for (const Node& node : graph.nodes | std::views::reverse) {
    if (std::ranges::any_of(node.outputs, [&](const std::string& name) { return names.contains(name); })) {
      need(need, node);
    } else {
      network.absorbed.insert(&node);
    }
  }
  for (const ValueInfo& output : graph.outputs) {
    if (output.name != result) {
      network.assume_of(
          graph.outputs.size() == 2 ? "The output {} is not computed." : "The outputs {} are not computed.",
          output.name);
    }
  }
  return result;
}

}  // namespace bench::kernels::onnx
