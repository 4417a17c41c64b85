#include "kernels/networks/passes/unfold_norms.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace bench::kernels {

FoldedNorms folded_norms(const Graph& graph) {
  std::size_t convolutions = 0;
  std::size_t biased = 0;
  bool tells_of_none = false;
  for (const Node& node : graph.nodes()) {
    tells_of_none = tells_of_none || options_of<BatchNormOptions>(node) != nullptr ||
                    options_of<LayerNormOptions>(node) != nullptr;
    if (const auto* const convolution = options_of<ConvOptions>(node)) {
      if (convolution->holds_norm.value_or(false)) {
        return FoldedNorms::some;
      }
      tells_of_none = tells_of_none || convolution->holds_norm;
      ++convolutions;
      biased += convolution->bias ? 1 : 0;
    }
  }
  return !tells_of_none && convolutions > 0 && 2 * biased >= convolutions ? FoldedNorms::perhaps
                                                                          : FoldedNorms::none;
}

Graph with_norms_unfolded(const Graph& graph) {
  const bool tells = folded_norms(graph) == FoldedNorms::some;
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
    const bool holds_norm =
        convolution != nullptr && convolution->bias && node.shape.is_maps() &&
        (tells ? convolution->holds_norm.value_or(false) : node.shape.height() * node.shape.width() > 1);
    if (!holds_norm) {
      moved.push_back(unfolded.append(std::move(node)));
      continue;
    }
    ConvOptions options = *convolution;
    options.bias = false;
    options.holds_norm = false;
    const Graph::Value plain = unfolded.append(node.name, node.inputs, options);
    moved.push_back(unfolded.batch_norm(node.name + ".norm", plain));
  }
  return unfolded;
}

}  // namespace bench::kernels
