#include "kernels/networks/onnx/prune.h"

#include <vector>

namespace bench::kernels::onnx {

using Layers = bench::kernels::Graph;

Pruned prune(const Layers& graph, Layers::Value output) {
  std::vector<bool> needed(output + 1, false);
  needed[output] = needed[graph.image()] = true;
  for (Layers::Value value = output + 1; value-- > 0;) {
    if (needed[value]) {
      for (const Layers::Value input : graph[value].inputs) {
        needed[input] = true;
      }
    }
  }
  Pruned pruned{.graph = graph.input_only(), .places = {{graph.image(), graph.image()}}};
  std::map<Layers::Value, Layers::Value> owners;  // of shared weights: those left of old ones
  for (Layers::Value value = 1; value <= output; ++value) {
    if (!needed[value]) {
      continue;
    }
    bench::kernels::Node node = graph[value];
    for (Layers::Value& input : node.inputs) {
      input = pruned.places.at(input);
    }
    const Layers::Value owner = node.shares.value_or(value);
    const auto known = owners.find(owner);
    node.shares = known == owners.end() ? std::nullopt : std::optional(known->second);
    const Layers::Value added = pruned.graph.append(std::move(node));
    owners.emplace(owner, added);
    pruned.places.emplace(value, added);
  }
  return pruned;
}

}  // namespace bench::kernels::onnx
