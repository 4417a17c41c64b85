#include "kernels/networks/graph/graph.h"

#include <fmt/format.h>

#include "kernels/networks/graph/layer.h"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels {

Graph::Graph(const Image& image) {
  if (image.c < 1 || image.h < 1 || image.w < 1) {
    throw ShapeTooSmall(fmt::format("an image of {}x{}x{}", image.c, image.h, image.w));
  }
  nodes_.push_back(
      {.name = "image", .inputs = {}, .shape = Shape::maps(image.c, image.h, image.w), .layer = {}});
}

Graph::Graph(const Tokens& tokens) : tokens_(tokens) {
  if (tokens.sequence < 1 || tokens.vocabulary < 1) {
    throw ShapeTooSmall(fmt::format("{} tokens of a vocabulary of {}", tokens.sequence, tokens.vocabulary));
  }
  nodes_.push_back({.name = "tokens", .inputs = {}, .shape = {kBatch, tokens.sequence}, .layer = {}});
}

Graph Graph::reading(const Shape& input) {
  const auto batch = input.batch_dimension();
  require(batch && input[*batch] == kBatch && input.is_fixed_from(*batch + 1), "input",
          "needs the batch as one of its dimensions", input);
  Graph graph;
  graph.nodes_.push_back({.name = "input", .inputs = {}, .shape = input, .layer = {}});
  return graph;
}

Graph Graph::input_only() const {
  Graph empty = *this;
  empty.nodes_.resize(1);
  return empty;
}

Graph::Value Graph::append(Node node) {
  for (const Value input : node.inputs) {
    require(input < nodes_.size(), node.name, "reads a layer that does not come before it");
  }
  require(node.inputs.empty() == node.layer->reads_nothing(), node.name,
          node.inputs.empty() ? "has no input" : "reads nothing");
  std::vector<Shape> inputs;
  for (const Value input : node.inputs) {
    inputs.push_back(nodes_[input].shape);
  }
  node.shape = node.layer->shape(node.name, inputs);
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

Graph::Value Graph::average_pool(const std::string& name, Value x, std::int64_t size) {
  const Shape& in = nodes_.at(x).shape;
  if (in.height() == size && in.width() == size) {
    return x;
  }
  return append(name, {x}, AveragePoolOptions{.size = size});
}

Graph::Value Graph::upsample(const std::string& name, Value x) {
  const Shape& in = nodes_.at(x).shape;
  require(in.is_maps(), name, "needs maps", in);
  return append(name, {x},
                ResizeOptions{.height = 2 * in.height(),
                              .width = 2 * in.width(),
                              .coordinates = Coordinates::asymmetric,
                              .rounding = PixelRounding::floor});
}

Graph::Value Graph::tied_linear(const std::string& name, Value x, Value table) {
  const LayerPlace of_table = place(table);
  const auto parameters = nodes_[table].layer == nullptr ? std::vector<LayerParameter>{}
                                                         : nodes_[table].layer->parameters(of_table);
  const std::int64_t width = of_table.shape.channels();
  require(parameters.size() == 1 && parameters[0].table && nodes_.at(x).shape.channels() == width, name,
          "shares a table that does not fit");
  const Value added = linear(name, x, {.features = parameters[0].count / width, .bias = false});
  nodes_[added].shares = table;
  return added;
}

Graph::Value Graph::embedding(const std::string& name, Value x, const TableOptions& options) {
  require(tokens_ && x == image(), name, "needs the tokens");
  EmbeddingOptions table{options};
  table.rows = tokens_->vocabulary;
  return append(name, {x}, table);
}

LayerPlace Graph::place(Value value) const {
  const Node& node = nodes_.at(value);
  LayerPlace place{node.name, {}, node.shape, node.drawn};
  for (const Value input : node.inputs) {
    place.inputs.push_back(nodes_[input].shape);
  }
  return place;
}

std::vector<int> Graph::reader_counts() const {
  std::vector<int> counts(nodes_.size(), 0);
  for (const Node& node : nodes_) {
    for (const Value input : node.inputs) {
      ++counts[input];
    }
  }
  ++counts[output()];
  return counts;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (Value value = 1; value < nodes_.size(); ++value) {
    const Layer& layer = *nodes_[value].layer;
    const LayerPlace here = place(value);
    count += layer.trained_values(here);
    for (const LayerParameter& parameter : layer.parameters(here)) {
      count -= owner_of(value, parameter.slot) == value ? 0 : parameter.count;
    }
  }
  return count;
}

std::int64_t Graph::macs() const {
  std::int64_t macs = 0;
  for (Value value = 1; value < nodes_.size(); ++value) {
    macs += nodes_[value].layer->macs(place(value));
  }
  return macs;
}

}  // namespace bench::kernels
