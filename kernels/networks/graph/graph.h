// A network as layers in order: what is computed, not how. Batch, dtype and device come in with the plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// Input of a network of text: `sequence` token ids from 0 to below `vocabulary`, int32.
struct Tokens {
  std::int64_t sequence = 1;
  std::int64_t vocabulary = 1;
  // What texts are drawn for, where layers rest on it.
  std::set<std::int64_t> absent{};  // ids that none has; not all of them
  bool largest_is_last = false;     // the last id of a text is its largest, and no other is as large
};

// A layer in its place. The first node is the network's input and has none.
struct Node {
  std::string name;                 // "layer1.0.conv1"
  std::vector<std::size_t> inputs;  // earlier nodes
  Shape shape;                      // of the result
  const LayerType* type = nullptr;
  std::shared_ptr<const Layer> layer;
  // The earlier node whose weights are this one's as well.
  std::optional<std::size_t> shares{};
  // Its parameters that have another layer's values, but are its own; nullptr: none.
  std::shared_ptr<const std::map<Slot, Drawn>> drawn{};

  bool is(std::string_view kind) const { return type != nullptr && type->name == kind; }
};

// A layer's options; nullptr where it is a layer of another kind.
template <class Options>
const Options* options_of(const Node& node) {
  return node.layer == nullptr ? nullptr : static_cast<const Options*>(node.layer->options(typeid(Options)));
}

// Nodes are in an order in which they can run; the last is the output. Each call adds one and returns its
// index. Throws ShapeTooSmall, and std::logic_error where a layer does not fit its inputs.
class Graph {
 public:
  using Value = std::size_t;

  explicit Graph(const Image& image);
  explicit Graph(const Tokens& tokens);
  // Values of any shape, in which one dimension is the batch.
  static Graph reading(const Shape& input);

  Value image() const { return 0; }  // or the tokens, or whatever it reads
  // Present where the network reads tokens.
  const std::optional<Tokens>& tokens() const { return tokens_; }
  void set_tokens(const Tokens& tokens) { tokens_ = tokens; }  // of the same sizes
  // Samples are bytes, as of images: whole numbers from this one to 255 above it.
  const std::optional<int>& lowest_byte() const { return lowest_byte_; }
  void set_lowest_byte(int lowest) { lowest_byte_ = lowest; }
  // A graph with the same input and no layers yet.
  Graph input_only() const;

  // A layer of the kind that has these options.
  template <class Options>
  Value append(const std::string& name, const std::vector<Value>& inputs, const Options& options = {}) {
    const LayerType& type = layer_type(typeid(Options));
    return append({.name = name, .inputs = inputs, .shape = {}, .type = &type, .layer = type.make(&options)});
  }
  // Infers the shape.
  Value append(Node node);

  // The layers of kernels/networks/layers/, for short.
  Value conv2d(const std::string& name, Value x, const ConvOptions& options) {
    return append(name, {x}, options);
  }
  Value conv_transpose(const std::string& name, Value x, std::int64_t channels, std::int64_t kernel) {
    return append(name, {x}, ConvTransposeOptions{.channels = channels, .kernel = kernel});
  }
  Value batch_norm(const std::string& name, Value x, double gain = 1) {
    return append(name, {x}, BatchNormOptions{.gain = gain});
  }
  Value activation(const std::string& name, Value x, Activation activation) {
    return append(name, {x}, ActivationOptions{.activation = activation});
  }
  Value relu(const std::string& name, Value x) { return activation(name, x, Activation::relu); }
  Value relu6(const std::string& name, Value x) { return activation(name, x, Activation::relu6); }
  Value leaky_relu(const std::string& name, Value x) { return activation(name, x, Activation::leaky_relu); }
  Value gelu(const std::string& name, Value x) { return activation(name, x, Activation::gelu); }
  Value max_pool(const std::string& name, Value x, const PoolOptions& window) {
    return append(name, {x}, window);
  }
  // Adds nothing and returns x where x already has that size.
  Value average_pool(const std::string& name, Value x, std::int64_t size = 1);
  Value add(const std::string& name, Value a, Value b) { return append(name, {a, b}, AddOptions{}); }
  Value concat(const std::string& name, const std::vector<Value>& maps) {
    return append(name, maps, ConcatOptions{});
  }
  Value upsample(const std::string& name, Value x);  // each pixel twice in both directions
  Value flatten(const std::string& name, Value x) { return append(name, {x}, FlattenOptions{}); }
  Value rows(const std::string& name, const std::vector<Value>& maps, std::int64_t classes) {
    return append(name, maps, RowsOptions{.classes = classes});
  }
  Value linear(const std::string& name, Value x, std::int64_t features) {
    return linear(name, x, LinearOptions{.features = features});
  }
  Value linear(const std::string& name, Value x, const LinearOptions& options) {
    return append(name, {x}, options);
  }
  // dst = x · Eᵀ without a bias, E the table of the embedding `table`: one parameter, used twice
  // (Press and Wolf 2017, arXiv:1608.05859).
  Value tied_linear(const std::string& name, Value x, Value table);
  Value softmax(const std::string& name, Value x) { return append(name, {x}, SoftmaxOptions{}); }
  // A row of a table of vocabulary × width for each token.
  Value embedding(const std::string& name, Value x, const TableOptions& options);
  Value position_embedding(const std::string& name, Value x, const TableOptions& options) {
    return append(name, {x}, PositionEmbeddingOptions{options});
  }
  Value layer_norm(const std::string& name, Value x, const LayerNormOptions& options = {}) {
    return append(name, {x}, options);
  }
  Value attention(const std::string& name, Value x, std::int64_t heads) {
    return append(name, {x}, AttentionOptions{.heads = heads});
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& operator[](Value value) const { return nodes_.at(value); }
  Node& edit(Value value) { return nodes_.at(value); }  // for passes; shapes are not inferred again
  Value output() const { return nodes_.size() - 1; }
  LayerPlace place(Value value) const;

  // The node that the parameter is counted, initialised and stored with.
  Value owner_of(Value value, Slot slot) const {
    return slot == Slot::weights ? nodes_.at(value).shares.value_or(value) : value;
  }

  // How many times each result is read by later layers; the output counts one more reader.
  std::vector<int> reader_counts() const;

  // Trained values: weights, biases, scales and shifts, tables. A table that two layers share counts once.
  std::int64_t parameter_count() const;
  // Multiply-adds a sample as papers and model zoos publish them: convolutions, transposed ones too, linear
  // layers, products of matrices and the two of attention only; products with padding and with masked
  // positions counted.
  std::int64_t macs() const;

 private:
  Graph() = default;

  std::optional<Tokens> tokens_;
  std::optional<int> lowest_byte_;
  std::vector<Node> nodes_;
};

}  // namespace bench::kernels
