#include "kernels/networks/fuse.h"

#include <algorithm>

namespace bench::kernels {
namespace {

using Value = Graph::Value;

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : old_(graph), readers_(graph.reader_counts()), fused_(graph.input_only()) {}

  Graph run() && {
    place_.assign(old_.layers().size(), 0);
    for (Value value = 1; value < old_.layers().size(); ++value) {
      place_[value] = fuse(value);
    }
    return std::move(fused_);
  }

 private:
  // The new layer that computes old layer `value`.
  Value fuse(Value value) {
    const Layer& layer = old_[value];
    switch (layer.kind) {
      case LayerKind::batch_norm:
        if (Layer* conv = sole_conv(layer.inputs[0]); conv != nullptr && !conv->norm && !conv->residual) {
          conv->norm = FoldedNorm{layer.name, layer.gain};
          conv->bias = true;
          return place_[layer.inputs[0]];
        }
        break;
      case LayerKind::add:
        if (const auto fused = fuse_add(layer)) {
          return *fused;
        }
        break;
      case LayerKind::activation:
        if (Layer* before = sole(layer.inputs[0]); before != nullptr && takes_activation(*before)) {
          before->activation = layer.activation;
          return place_[layer.inputs[0]];
        }
        break;
      default:
        break;
    }
    Layer copy = layer;
    std::ranges::transform(layer.inputs, copy.inputs.begin(), [this](Value input) { return place_[input]; });
    if (layer.shares) {
      copy.shares = place_[*layer.shares];
    }
    return fused_.append(std::move(copy));
  }

  // The convolution must come after the other operand, which it reads: only the later operand can take the
  // sum.
  std::optional<Value> fuse_add(const Layer& add) {
    Value conv_operand = add.inputs[0];
    Value other = add.inputs[1];
    if (place_[conv_operand] < place_[other]) {
      std::swap(conv_operand, other);
    }
    Layer* conv = sole_conv(conv_operand);
    if (conv == nullptr || conv->residual || place_[conv_operand] == place_[other]) {
      return std::nullopt;
    }
    conv->residual = true;
    conv->inputs.push_back(place_[other]);
    return place_[conv_operand];
  }

  // The new layer of an old one that has a single reader, which is about to disappear into it.
  Layer* sole(Value value) {
    return readers_[value] == 1 && old_[value].kind != LayerKind::input ? &fused_.edit(place_[value])
                                                                        : nullptr;
  }
  Layer* sole_conv(Value value) {
    Layer* layer = sole(value);
    return layer != nullptr && layer->kind == LayerKind::conv2d && layer->activation == Activation::none
               ? layer
               : nullptr;
  }
  static bool takes_activation(const Layer& layer) {
    return layer.activation == Activation::none &&
           (layer.kind == LayerKind::conv2d || layer.kind == LayerKind::add ||
            (layer.kind == LayerKind::linear && !layer.shares));
  }

  const Graph& old_;
  std::vector<int> readers_;
  Graph fused_;
  std::vector<Value> place_;  // old layer → new layer
};

}  // namespace

Graph fuse_for_inference(const Graph& graph) {
  return Fuser(graph).run();
}

}  // namespace bench::kernels
