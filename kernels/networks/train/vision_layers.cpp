// Records the layers of segmentation and detection networks: what joins maps, and what enlarges them.
#include "kernels/networks/train/layers.h"

namespace bench::kernels {

using Value = Graph::Value;

ConvTranspose LayerRecorder::conv_transpose(Value value, ConvTranspose::Direction direction) const {
  ConvTranspose spec = conv_transpose_of(graph_, value, target_);
  spec.direction = direction;
  spec.bias = spec.bias && direction != ConvTranspose::Direction::backward_data;
  return spec;
}

void LayerRecorder::forward_vision(Value value) {
  const Layer& layer = graph_[value];
  Arguments arguments;
  for (std::size_t index = 0; index < layer.inputs.size(); ++index) {
    arguments.emplace_back(kSources.at(index), this->value(layer.inputs[index]));
  }
  arguments.emplace_back(Slot::dst, result(value));
  switch (layer.kind) {
    case LayerKind::concat:
      return record(forward_name(value), concat_of(graph_, value, target_), arguments);
    case LayerKind::rows:
      return record(forward_name(value), rows_of(graph_, value, target_), arguments);
    case LayerKind::upsample:
      return record(forward_name(value), Upsample{.src = desc(layer.inputs[0])}, arguments);
    default:  // conv_transpose
      arguments.emplace_back(Slot::weights, weight(value, Slot::weights));
      arguments.emplace_back(Slot::bias, weight(value, Slot::bias));
      return record(forward_name(value), conv_transpose(value, ConvTranspose::Direction::forward), arguments);
  }
}

void LayerRecorder::backward_vision(Value value, TensorId diff) {
  const Layer& layer = graph_[value];
  if (layer.kind != LayerKind::upsample) {
    backward_joined(value, diff);
  } else if (wants_gradient(layer.inputs[0])) {
    record(backward_name(value), UpsampleBackward{{.src = desc(layer.inputs[0])}},
           {{Slot::diff_dst, diff}, {Slot::diff_src, input_gradient(value)}});
  }
}

// Each input by itself: the gradient of a skip connection is read much later than its neighbour's.
void LayerRecorder::backward_joined(Value value, TensorId diff) {
  const Layer& layer = graph_[value];
  for (std::size_t index = 0; index < layer.inputs.size(); ++index) {
    if (!wants_gradient(layer.inputs[index])) {
      continue;
    }
    const std::string name = backward_name(value) + " (" + graph_[layer.inputs[index]].name + ")";
    const Arguments arguments{{Slot::diff_dst, diff}, {Slot::diff_src, input_gradient(value, index)}};
    if (layer.kind == LayerKind::concat) {
      record(name, ConcatBackward{concat_of(graph_, value, target_), index}, arguments);
    } else {
      record(name, RowsBackward{rows_of(graph_, value, target_), index}, arguments);
    }
  }
}

}  // namespace bench::kernels
