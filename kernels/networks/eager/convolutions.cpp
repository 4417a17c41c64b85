#include "kernels/networks/eager/convolutions.h"

#include <algorithm>
#include <optional>

#include "kernels/networks/graph/convolution.h"

namespace bench::kernels {
namespace {

// Of one sample, forward. A transposed convolution is the gradient of another one by its input.
std::optional<Conv2d> forward_of(const Node& node, const Shape& input) {
  if (const auto* const convolution = options_of<ConvOptions>(node)) {
    return convolution_of(*convolution, input);
  }
  if (const auto* const transposed = options_of<ConvTransposeOptions>(node)) {
    return exchanged_convolution(convolution_of(*transposed, input));
  }
  return std::nullopt;
}

bool is_depthwise(const Conv2d& spec) {
  return spec.groups > 1 && spec.groups == spec.in_channels;
}

Direction gradient_of_input(Direction forward) {
  return forward == Direction::forward ? Direction::backward_data : Direction::forward;
}

}  // namespace

std::vector<Conv2d> eager_convolutions(const Graph& graph, const EagerSetting& setting, std::int64_t batch,
                                       Layout layout) {
  std::vector<Conv2d> all;
  const auto add = [&](Conv2d spec, Direction direction) {
    spec.direction = direction;
    if (std::ranges::find(all, spec) == all.end()) {
      all.push_back(spec);
    }
  };
  std::vector<bool> wants_gradient(graph.nodes().size(), false);
  for (Graph::Value value = 1; value < graph.nodes().size(); ++value) {
    const Node& node = graph[value];
    const bool input_wants =
        std::ranges::any_of(node.inputs, [&](std::size_t input) { return wants_gradient[input]; });
    wants_gradient[value] = input_wants || node.layer->trained_values(graph.place(value)) > 0;
    std::optional<Conv2d> spec =
        node.inputs.empty() ? std::nullopt : forward_of(node, graph[node.inputs.front()].shape);
    if (!spec || is_depthwise(*spec)) {
      continue;
    }
    spec->batch = std::max<std::int64_t>(1, batch / static_cast<std::int64_t>(setting.micro_batches));
    spec->bias = false;
    spec->dtype = setting.dtype;
    spec->src_layout = spec->dst_layout = layout;
    const Direction forward = spec->direction;
    add(*spec, forward);
    if (setting.train) {
      add(*spec, Direction::backward_weights);
      if (input_wants) {
        add(*spec, gradient_of_input(forward));
      }
    }
  }
  return all;
}

}  // namespace bench::kernels
