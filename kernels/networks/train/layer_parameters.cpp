// The parameters that layers train: where each and its gradient lie, and how gradients add up.
#include <fmt/format.h>

#include "kernels/networks/train/layers.h"

namespace bench::kernels {

using Value = Graph::Value;

std::shared_ptr<Operation> LayerRecorder::with_parameters(Value value) {
  switch (graph_[value].kind) {
    case LayerKind::conv2d:
      return make(conv2d(value, Conv2d::Direction::forward));
    case LayerKind::conv_transpose:
      return make(conv_transpose(value, ConvTranspose::Direction::forward));
    case LayerKind::linear:
      return make(linear(value, Linear::Direction::forward));
    case LayerKind::batch_norm:
      return make(BatchNorm{.tensor = desc(graph_[value].inputs[0]), .training = true});
    default:
      return sequence_with_parameters(value);
  }
}

void LayerRecorder::declare_parameters(Value last) {
  const auto add_group = [&](Dtype dtype) {
    ParameterGroup group;
    group.dtype = dtype;
    group.weights = step_.program.block(fmt::format("weights {}", name_of(dtype)), MemoryCategory::weights);
    group.gradients =
        step_.program.block(fmt::format("gradients {}", name_of(dtype)), MemoryCategory::gradients);
    step_.groups.push_back(group);
  };
  const Dtype stored =
      target_.dtype == Dtype::tf32 ? Dtype::fp32 : target_.dtype;  // tf32 is how it multiplies
  add_group(stored);
  if (stored != Dtype::fp32) {
    add_group(Dtype::fp32);  // biases and normalisation keep full precision
  }
  for (Value value = 1; value <= last; ++value) {
    const auto operation = with_parameters(value);
    if (operation == nullptr) {
      continue;
    }
    for (const SlotInfo& slot : operation->slots()) {
      if (slot.role == Role::parameter && graph_.owner_of(value, slot.slot) == value) {
        declare(value, slot.slot, operation);
      }
    }
  }
}

void LayerRecorder::declare(Value layer, Slot slot, const std::shared_ptr<Operation>& operation) {
  const SlotInfo& info = *operation->find(slot);
  const bool full_precision = info.bytes == info.plain_count * 4 && slot != Slot::weights;
  ParameterGroup& group = full_precision ? step_.groups.back() : step_.groups.front();
  const std::string name = fmt::format("{} {}", graph_[layer].name, name_of(slot));
  parameter_index_[{layer, slot}] = step_.parameters.size();
  step_.parameters.push_back(
      {.layer = layer,
       .slot = slot,
       .operation = operation,
       .value = step_.program.keep(group.weights, name, info.bytes),
       .gradient = step_.program.keep(group.gradients, "gradient of " + name, info.bytes)});
}

const TrainedParameter* LayerRecorder::parameter(Value layer, Slot slot) const {
  const auto at = parameter_index_.find({graph_.owner_of(layer, slot), slot});
  return at == parameter_index_.end() ? nullptr : &step_.parameters[at->second];
}

TensorId LayerRecorder::gradient_target(Value value, Slot slot) {
  const TrainedParameter& trained = *parameter(value, slot);
  if (written_.insert(trained.gradient).second) {
    return trained.gradient;
  }
  return fresh(fmt::format("gradient of {} {}", graph_[value].name, name_of(slot)),
               step_.program.tensors()[trained.gradient].bytes, Content::parameter_gradient);
}

void LayerRecorder::add_up(Value value, Slot slot, TensorId written) {
  const TrainedParameter& trained = *parameter(value, slot);
  if (written == trained.gradient) {
    return;
  }
  const ProgramTensor& total = step_.program.tensors()[trained.gradient];
  const bool in_front = total.block == step_.groups.front().gradients;
  const Dtype dtype = in_front ? step_.groups.front().dtype : Dtype::fp32;
  const TensorDesc row{1, total.bytes / bytes_of(dtype), 1, 1, Layout::nhwc, dtype};
  record("gradient sum " + graph_[value].name + suffix_, Add{.tensor = row},
         {{Slot::src, written}, {Slot::src1, trained.gradient}, {Slot::dst, trained.gradient}});
}

}  // namespace bench::kernels
