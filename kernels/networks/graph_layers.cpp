// The layers by name: each call describes one and appends it.
#include <utility>

#include "kernels/networks/graph.h"

namespace bench::kernels {

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
  return linear(std::move(name), x, LinearOptions{.features = features});
}

Graph::Value Graph::linear(std::string name, Value x, const LinearOptions& options) {
  Layer layer;
  layer.kind = LayerKind::linear;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.shape.c = options.features;
  layer.bias = options.bias;
  layer.deviation = options.deviation;
  return append(std::move(layer));
}

Graph::Value Graph::tied_linear(std::string name, Value x, Value table) {
  Layer layer;
  layer.kind = LayerKind::linear;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.shape.c = layers_.at(table).rows;
  layer.shares = table;
  return append(std::move(layer));
}

Graph::Value Graph::embedding(std::string name, Value x, const TableOptions& options) {
  Layer layer;
  layer.kind = LayerKind::embedding;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.rows = tokens_ ? tokens_->vocabulary : 0;
  layer.shape.c = options.width;
  layer.deviation = options.deviation;
  return append(std::move(layer));
}

Graph::Value Graph::position_embedding(std::string name, Value x, const TableOptions& options) {
  Layer layer;
  layer.kind = LayerKind::position_embedding;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.rows = options.rows;
  layer.deviation = options.deviation;
  return append(std::move(layer));
}

Graph::Value Graph::layer_norm(std::string name, Value x) {
  Layer layer;
  layer.kind = LayerKind::layer_norm;
  layer.name = std::move(name);
  layer.inputs = {x};
  return append(std::move(layer));
}

Graph::Value Graph::attention(std::string name, Value x, std::int64_t heads) {
  Layer layer;
  layer.kind = LayerKind::attention;
  layer.name = std::move(name);
  layer.inputs = {x};
  layer.heads = heads;
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

}  // namespace bench::kernels
