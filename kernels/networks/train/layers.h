// Records the forward and backward passes of single layers into a training step.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/linear/linear.h"
#include "kernels/networks/train/step.h"

namespace bench::kernels {

class LayerRecorder {
 public:
  LayerRecorder(const Graph& graph, const Target& target, Device& device, TrainingStep& step);

  // Scratch that each convolution may use for a faster algorithm; none at first.
  void set_convolution_scratch(std::int64_t bytes) { convolution_scratch_ = bytes; }

  // Gives every parameter of the layers up to `last` its place, in the order of the layers.
  void declare_parameters(Graph::Value last);

  // `suffix` goes behind the names; later micro-batches add to the gradients of earlier ones.
  void start_micro_batch(std::string suffix);
  void set_image(TensorId image) { values_.at(0) = image; }

  void forward(Graph::Value value);
  // Anew, for a backward pass that finds the first result gone.
  void forward_again(Graph::Value value);
  // From the gradients contributed to the layer's result to those of its inputs and parameters. A layer whose
  // result took no part in the loss is passed over.
  void backward(Graph::Value value);

  TensorId value(Graph::Value value) const { return values_.at(value).value(); }
  void contribute(Graph::Value value, TensorId gradient) { gradients_.at(value).push_back(gradient); }

  using Arguments = std::vector<std::pair<Slot, TensorId>>;
  using Overwrite = std::optional<std::pair<TensorId, TensorId>>;  // result, input

  template <class Spec>
  void record(const std::string& name, const Spec& spec, const Arguments& arguments,
              Overwrite overwrite = std::nullopt) {
    step_.program.run({.name = name,
                       .operation = make(spec),
                       .make_own = [spec, &device = device_,
                                    implementation = target_.implementation]() -> std::shared_ptr<Operation> {
                         return make_operation(spec, device, implementation);
                       },
                       .tensors = arguments},
                      overwrite);
  }

 private:
  struct Saved {  // of a layer's latest forward pass, for its backward pass
    std::optional<TensorId> mean{}, variance{}, opaque{};
  };
  template <class Spec>
  std::shared_ptr<Operation> make(const Spec& spec) {
    return cache_.make(spec, device_, target_.implementation);
  }

  // The activation right behind a sum, where it alone reads it: the sum is then stored activated, and the
  // activation has nothing left to do. Backward passes ask for the result only. On the CPU alone.
  Activation activation_of_sum(Graph::Value value) const;

  TensorDesc desc(Graph::Value value) const { return tensor_of(graph_, value, target_); }
  Conv2d conv2d(Graph::Value value, Conv2d::Direction direction) const;
  Linear linear(Graph::Value value, Linear::Direction direction) const;
  ConvTranspose conv_transpose(Graph::Value value, ConvTranspose::Direction direction) const;

  // The forward operation of a layer that may have parameters; nullptr for other kinds.
  std::shared_ptr<Operation> with_parameters(Graph::Value value);
  std::shared_ptr<Operation> sequence_with_parameters(Graph::Value value);
  void declare(Graph::Value layer, Slot slot, const std::shared_ptr<Operation>& operation);
  const TrainedParameter* parameter(Graph::Value layer, Slot slot) const;
  TensorId weight(Graph::Value layer, Slot slot) const { return parameter(layer, slot)->value; }

  TensorId fresh(const std::string& name, std::int64_t bytes, Content content);
  // A new tensor for the layer's result, which becomes its value.
  TensorId result(Graph::Value value);
  // The gradient of the layer's result: the sum of the contributions.
  TensorId gradient(Graph::Value value);
  // Adds contributions up until at most `most` are left.
  void add_contributions(Graph::Value value, std::size_t most);
  void backward_activation(Graph::Value value);
  // A new tensor for the gradient of input `index`; contributed to it.
  TensorId input_gradient(Graph::Value value, std::size_t index = 0);
  bool wants_gradient(Graph::Value value) const { return value != graph_.image(); }
  // The tensor a parameter's gradient is written to, and afterwards added up where an earlier micro-batch, or
  // another layer with the same parameter, wrote one.
  TensorId gradient_target(Graph::Value value, Slot slot);
  void add_up(Graph::Value value, Slot slot, TensorId written);

  std::string forward_name(Graph::Value value) const { return "forward " + graph_[value].name + suffix_; }
  std::string backward_name(Graph::Value value) const { return "backward " + graph_[value].name + suffix_; }

  template <class Spec>
  void backward_weighted(Graph::Value value, TensorId diff, const Spec& of_weights, const Spec& of_data);
  void backward_batch_norm(Graph::Value value, TensorId diff);
  // Of networks of text, in sequence_layers.cpp.
  void forward_sequence(Graph::Value value);
  void backward_sequence(Graph::Value value, TensorId diff);
  void forward_layer_norm(Graph::Value value);
  void backward_layer_norm(Graph::Value value, TensorId diff);
  void forward_gelu(Graph::Value value);
  void backward_gelu(Graph::Value value, TensorId diff);
  void backward_pool(Graph::Value value, TensorId diff);

  // vision_layers.cpp
  void forward_vision(Graph::Value value);
  void backward_vision(Graph::Value value, TensorId diff);
  void backward_joined(Graph::Value value, TensorId diff);

  const Graph& graph_;
  const Target& target_;
  Device& device_;
  TrainingStep& step_;
  OperationCache cache_;
  std::int64_t convolution_scratch_ = 0;
  std::string suffix_;
  std::set<TensorId> written_;                    // gradients of parameters that hold something
  std::vector<std::optional<TensorId>> values_;   // by layer: the latest result
  std::vector<std::vector<TensorId>> gradients_;  // by layer: contributed so far
  std::vector<Saved> saved_;
  std::map<std::pair<Graph::Value, Slot>, std::size_t> parameter_index_;
};

}  // namespace bench::kernels
