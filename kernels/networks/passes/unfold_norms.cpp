#include "kernels/networks/passes/unfold_norms.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace bench::kernels {

bool may_have_folded_norms(const Graph& graph) {
  std::size_t convolutions = 0;
  std::size_t biased = 0;
  for (const Node& node : graph.nodes()) {
    if (options_of<BatchNormOptions>(node) != nullptr || options_of<LayerNormOptions>(node) != nullptr) {
      return false;
    }
    if (const auto* const convolution = options_of<ConvOptions>(node)) {
      ++convolutions;
      biased += convolution->bias ? 1 : 0;
    }
  }
  return convolutions > 0 && 2 * biased >= convolutions;
}

Graph with_norms_unfolded(const Graph& graph) {
  Graph unfolded = graph.input_only();
  std::vector<Graph::Value> moved{0};
  for (std::size_t value = 1; value < graph.nodes().size(); ++value) {
    Node node = graph[value];
    for (Graph::Value& input : node.inputs) {
      input = moved[input];
    }
    if (node.shares) {
      node.shares = moved[*node.shares];
    }
    const auto* const convolution = options_of<ConvOptions>(node);
    if (convolution == nullptr || !convolution->bias || !node.shape.is_maps() ||
        node.shape.height() * node.shape.width() == 1) {
      moved.push_back(unfolded.append(std::move(node)));
      continue;
    }
    ConvOptions options = *convolution;
    options.bias = false;
    const Graph::Value plain = unfolded.append(node.name, node.inputs, options);
    moved.push_back(unfolded.batch_norm(node.name + ".norm", plain));
  }
  return unfolded;
}

}  // namespace bench::kernels
