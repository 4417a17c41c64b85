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
      return 2 * channels;
    case LayerKind::linear:
      return channels * graph.input_of(value).elements() + (layer.bias ? channels : 0);
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
      require(in.h == 1 && in.w == 1, layer, "needs a flat input");
      return {layer.shape.c, 1, 1};
    case LayerKind::softmax:
      require(in.h == 1 && in.w == 1, layer, "needs a flat input");
      return in;
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

Graph::Value Graph::conv2d(std::string name, Value x, const ConvOptions& options) {
  Layer layer;
  layer.kind = LayerKind::conv2d;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.shape.c = options.channels;
  layer.kernel = options.kernel;
  layer.stride = options.stride;
  layer.pad = options.pad;
  layer.groups = options.groups;
  layer.bias = options.bias;
  return append(std::move(layer));
}

Graph::Value Graph::batch_norm(std::string name, Value x, double gain) {
  Layer layer;
  layer.kind = LayerKind::batch_norm;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.gain = gain;
  return append(std::move(layer));
}

Graph::Value Graph::activation(std::string name, Value x, Activation activation) {
  Layer layer;
  layer.kind = LayerKind::activation;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.activation = activation;
  return append(std::move(layer));
}

Graph::Value Graph::max_pool(std::string name, Value x, const WindowOptions& window) {
  Layer layer;
  layer.kind = LayerKind::max_pool;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.kernel = window.kernel;
  layer.stride = window.stride;
  layer.pad = window.pad;
  layer.end_pad = window.end_pad;
  return append(std::move(layer));
}

Graph::Value Graph::average_pool(std::string name, Value x, std::int64_t size) {
  const Shape in = layers_.at(x).shape;
  if (in.h == size && in.w == size) {
    return x;
  }
  Layer layer;
  layer.kind = LayerKind::average_pool;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.size = size;
  return append(std::move(layer));
}

Graph::Value Graph::add(std::string name, Value a, Value b) {
  Layer layer;
  layer.kind = LayerKind::add;
  layer.name = std::move(name);
  layer.inputs = {a, b};
  return append(std::move(layer));
}

Graph::Value Graph::flatten(std::string name, Value x) {
  Layer layer;
  layer.kind = LayerKind::flatten;
  layer.name = std::move(name);
  layer.inputs = {x};
  return append(std::move(layer));
}

Graph::Value Graph::linear(std::string name, Value x, std::int64_t features) {
  Layer layer;
  layer.kind = LayerKind::linear;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.shape.c = features;
  layer.bias = true;
  return append(std::move(layer));
}

Graph::Value Graph::softmax(std::string name, Value x) {
  Layer layer;
  layer.kind = LayerKind::softmax;
  layer.name = std::move(name);
  layer.inputs = {x};
  return append(std::move(layer));
}

Graph::Value Graph::concat(std::string name, std::vector<Value> maps) {
  Layer layer;
  layer.kind = LayerKind::concat;
  layer.name = std::move(name);
  layer.inputs = std::move(maps);
  return append(std::move(layer));
}

Graph::Value Graph::upsample(std::string name, Value x) {
  Layer layer;
  layer.kind = LayerKind::upsample;
  layer.name = std::move(name);
  layer.inputs = {x};
  return append(std::move(layer));
}

Graph::Value Graph::conv_transpose(std::string name, Value x, std::int64_t channels, std::int64_t kernel) {
  Layer layer;
  layer.kind = LayerKind::conv_transpose;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.shape.c = channels;
  layer.kernel = layer.stride = kernel;
  layer.bias = true;
  return append(std::move(layer));
}

Graph::Value Graph::rows(std::string name, std::vector<Value> maps, std::int64_t classes) {
  Layer layer;
  layer.kind = LayerKind::rows;
  layer.name = std::move(name);
  layer.inputs = std::move(maps);
  layer.shape.c = classes;
  return append(std::move(layer));
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
    }
  }
  return macs;
}

}  // namespace bench::kernels
