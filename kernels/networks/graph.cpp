#include "kernels/networks/graph.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/operation.h"

namespace bench::kernels {
namespace {

std::int64_t windows(const Layer& layer, std::int64_t extent) {
  const std::int64_t room = extent + 2 * layer.pad + layer.end_pad - layer.kernel;
  if (room < 0) {
    throw ShapeTooSmall(fmt::format("{}: a {}x{} window with padding {} does not fit {} pixels", layer.name,
                                    layer.kernel, layer.kernel, layer.pad, extent));
  }
  return room / layer.stride + 1;
}

void require(bool condition, const Layer& layer, const char* what) {
  if (!condition) {
    throw std::logic_error(layer.name + ": " + what);
  }
}

std::int64_t parameters_of(const Graph& graph, Graph::Value value) {
  const Layer& layer = graph[value];
  const std::int64_t channels = layer.shape.c;
  switch (layer.kind) {
    case LayerKind::conv2d: {
      const std::int64_t inner = graph.input_of(value).c / layer.groups * layer.kernel * layer.kernel;
      // A folded batch norm's scale and shift are still the network's parameters.
      return channels * inner + (layer.bias && !layer.norm ? channels : 0) + (layer.norm ? 2 * channels : 0);
    }
    case LayerKind::conv_transpose:
      return graph.input_of(value).c * channels * layer.kernel * layer.kernel + channels;
    case LayerKind::batch_norm:
    case LayerKind::layer_norm:
      return 2 * channels;
    case LayerKind::linear:
      return (layer.shares ? 0 : channels * graph.input_of(value).c) + (layer.bias ? channels : 0);
    case LayerKind::embedding:
    case LayerKind::position_embedding:
      return layer.rows * channels;
    default:
      return 0;
  }
}

}  // namespace

Graph::Graph(Shape image) {
  Layer input;
  input.name = "image";
  input.shape = image;
  if (image.c < 1 || image.h < 1 || image.w < 1) {
    throw ShapeTooSmall(fmt::format("an image of {}x{}x{}", image.c, image.h, image.w));
  }
  layers_.push_back(std::move(input));
}

Graph::Graph(const Tokens& tokens) : tokens_(tokens) {
  if (tokens.sequence < 1 || tokens.vocabulary < 1) {
    throw ShapeTooSmall(fmt::format("{} tokens of a vocabulary of {}", tokens.sequence, tokens.vocabulary));
  }
  Layer input;
  input.name = "tokens";
  input.shape = {1, tokens.sequence, 1};
  layers_.push_back(std::move(input));
}

Graph::Value Graph::append(Layer layer) {
  for (const Value input : layer.inputs) {
    require(input < layers_.size(), layer, "reads a layer that does not come before it");
  }
  require(!layer.inputs.empty(), layer, "has no input");
  layer.shape = infer(layer);
  layers_.push_back(std::move(layer));
  return layers_.size() - 1;
}

Shape Graph::infer(const Layer& layer) const {
  const Shape in = layers_[layer.inputs[0]].shape;
  switch (layer.kind) {
    case LayerKind::input:
      throw std::logic_error(layer.name + ": a graph has one input");
    case LayerKind::conv2d:
      require(layer.groups > 0 && in.c % layer.groups == 0 && layer.shape.c % layer.groups == 0, layer,
              "groups do not divide the channels");
      require(layer.inputs.size() == (layer.residual ? 2U : 1U), layer, "has the wrong number of inputs");
      return {layer.shape.c, windows(layer, in.h), windows(layer, in.w)};
    case LayerKind::max_pool:
      return {in.c, windows(layer, in.h), windows(layer, in.w)};
    case LayerKind::average_pool:
      return {in.c, layer.size, layer.size};
    case LayerKind::add:
      require(layer.inputs.size() == 2 && layers_[layer.inputs[1]].shape == in, layer,
              "adds tensors of different shapes");
      return in;
    case LayerKind::flatten:
      require(!tokens_ || in.h == 1, layer, "flattens a sequence");
      return {in.elements(), 1, 1};
    case LayerKind::concat:
      return joined(layer);
    case LayerKind::upsample:
      return {in.c, 2 * in.h, 2 * in.w};
    case LayerKind::conv_transpose:
      return {layer.shape.c, in.h * layer.kernel, in.w * layer.kernel};
    case LayerKind::rows:
      return {layer.shape.c, row_count(layer), 1};
    case LayerKind::linear:
      require(in.w == 1 && (in.h == 1 || tokens_), layer, "needs a flat input or a sequence");
      require(!layer.shares ||
                  (layers_.at(*layer.shares).kind == LayerKind::embedding &&
                   layers_[*layer.shares].shape.c == in.c && layers_[*layer.shares].rows == layer.shape.c),
              layer, "shares a table that does not fit");
      return {layer.shape.c, in.h, 1};
    case LayerKind::softmax:
      require(in.h == 1 && in.w == 1, layer, "needs a flat input");
      return in;
    case LayerKind::embedding:
      require(tokens_ && layer.inputs[0] == image() && layer.rows == tokens_->vocabulary, layer,
              "needs the tokens");
      return {layer.shape.c, in.h, 1};
    case LayerKind::position_embedding:
      require(tokens_ && in.w == 1 && in.h <= layer.rows, layer, "has fewer positions than the sequence");
      return in;
    case LayerKind::layer_norm:
      require(tokens_ && in.w == 1, layer, "needs a sequence");
      return in;
    case LayerKind::attention:
      require(tokens_ && in.w == 1 && layer.heads > 0 && in.c % (3 * layer.heads) == 0, layer,
              "needs queries, keys and values of its heads");
      return {in.c / 3, in.h, 1};
    case LayerKind::batch_norm:
    case LayerKind::activation:
      return in;
  }
  return in;
}

Shape Graph::joined(const Layer& layer) const {
  require(layer.inputs.size() >= 2 && layer.inputs.size() <= kSources.size(), layer, "joins 2 to 4 maps");
  Shape shape{0, 1, 1};
  for (const Value input : layer.inputs) {
    shape.c += layers_[input].shape.c;
    shape.h = std::max(shape.h, layers_[input].shape.h);
    shape.w = std::max(shape.w, layers_[input].shape.w);
  }
  return shape;
}

std::int64_t Graph::row_count(const Layer& layer) const {
  require(layer.inputs.size() <= kSources.size(), layer, "takes 1 to 4 maps");
  std::int64_t rows = 0;
  for (const Value input : layer.inputs) {
    const Shape& map = layers_[input].shape;
    require(layer.shape.c > 0 && map.c % layer.shape.c == 0, layer, "channels are no whole rows of classes");
    rows += map.elements() / layer.shape.c;
  }
  return rows;
}

std::vector<int> Graph::reader_counts() const {
  std::vector<int> counts(layers_.size(), 0);
  for (const Layer& layer : layers_) {
    for (const Value input : layer.inputs) {
      ++counts[input];
    }
  }
  ++counts[output()];
  return counts;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (Value value = 0; value < layers_.size(); ++value) {
    count += parameters_of(*this, value);
  }
  return count;
}

std::int64_t Graph::macs() const {
  std::int64_t macs = 0;
  for (Value value = 0; value < layers_.size(); ++value) {
    const Layer& layer = layers_[value];
    if (layer.kind == LayerKind::conv2d) {
      macs += layer.shape.elements() * (input_of(value).c / layer.groups) * layer.kernel * layer.kernel;
    } else if (layer.kind == LayerKind::conv_transpose) {
      macs += input_of(value).elements() * layer.shape.c * layer.kernel * layer.kernel;
    } else if (layer.kind == LayerKind::linear) {
      macs += layer.shape.c * input_of(value).elements();
    } else if (layer.kind == LayerKind::attention) {
      macs += 2 * layer.shape.h * layer.shape.elements();
    }
  }
  return macs;
}

}  // namespace bench::kernels
