#include "kernels/networks/passes/dead_code.h"

#include <vector>

namespace bench::kernels {

LiveLayers without_dead_code(const Graph& graph, Graph::Value output) {
  std::vector<bool> needed(output + 1, false);
  needed[output] = needed[graph.image()] = true;
  for (Graph::Value value = output + 1; value-- > 0;) {
    if (needed[value]) {
      for (const Graph::Value input : graph[value].inputs) {
        needed[input] = true;
      }
    }
  }
  LiveLayers live{.graph = graph.input_only(), .places = {{graph.image(), graph.image()}}};
  std::map<Graph::Value, Graph::Value> owners;  // of shared weights: those left of old ones
  for (Graph::Value value = 1; value <= output; ++value) {
    if (!needed[value]) {
      continue;
    }
    Node node = graph[value];
    for (Graph::Value& input : node.inputs) {
      input = live.places.at(input);
    }
    const Graph::Value owner = node.shares.value_or(value);
    const auto known = owners.find(owner);
    node.shares = known == owners.end() ? std::nullopt : std::optional(known->second);
    const Graph::Value added = live.graph.append(std::move(node));
    owners.emplace(owner, added);
    live.places.emplace(value, added);
  }
  return live;
}

}  // namespace bench::kernels
