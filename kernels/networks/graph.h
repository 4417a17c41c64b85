// A network as layers in order: what is computed, not how. Shapes are per sample (channels, height, width)
// and inferred while the graph is built; batch, dtype and device come in with the plan. A sequence is as high
// as it is long and one wide, its channels are the features of a position; it is stored as rows of features.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/activation.h"
#include "kernels/operation.h"

namespace bench::kernels {

struct Shape {
  std::int64_t c = 0;
  std::int64_t h = 1;
  std::int64_t w = 1;

  std::int64_t elements() const { return c * h * w; }
  bool operator==(const Shape&) const = default;
};

// What a network of text reads: `sequence` token ids from 0 to below `vocabulary`, int32.
struct Tokens {
  std::int64_t sequence = 1;
  std::int64_t vocabulary = 1;
};

enum class LayerKind {
  input,
  conv2d,
  batch_norm,
  activation,
  max_pool,
  average_pool,  // adaptive: output size × size whatever the input's size; size 1 is global pooling
  add,
  flatten,
  linear,  // of a sequence: at every position
  softmax,
  concat,              // along channels; smaller maps are centred among zeros
  upsample,            // each pixel twice in both directions
  conv_transpose,      // up-convolution
  rows,                // maps of scores as rows of classes, see kernels/rows/rows.h
  embedding,           // of the tokens
  position_embedding,  // added to a sequence
  layer_norm,          // over the features of a position
  attention            // causal, over a sequence of queries, keys and values
};

// A batch norm folded into a convolution's weights and bias; parameters are still drawn by its name.
struct FoldedNorm {
  std::string name;
  double gain = 1;
};

struct Layer {
  LayerKind kind = LayerKind::input;
  std::string name;                 // "layer1.0.conv1"; parameters are drawn by it
  std::vector<std::size_t> inputs;  // indices of earlier layers
  Shape shape;                      // of the output

  std::int64_t kernel = 1, stride = 1, pad = 0;  // conv2d, max_pool, conv_transpose: square windows
  std::int64_t end_pad = 0;                      // max_pool: at the bottom and right, beyond pad
  std::int64_t groups = 1;                       // conv2d
  std::int64_t size = 1;                         // average_pool: output height and width
  bool bias = false;                             // conv2d, linear, conv_transpose
  Activation activation = Activation::none;      // the activation itself, or fused behind conv2d, add, linear
  bool residual = false;                         // conv2d: inputs[1] is added before the activation
  double gain = 1;                               // batch_norm: what its scale is drawn around
  std::optional<FoldedNorm> norm;                // conv2d
  std::int64_t rows = 0;                         // embedding, position_embedding: of the table
  std::int64_t heads = 0;                        // attention
  // linear and embeddings: standard deviation that the weights are drawn with; 0 for √(2 / inputs).
  double deviation = 0;
  // linear: the earlier embedding whose table, transposed, are this layer's weights as well.
  std::optional<std::size_t> shares;
};

// A layer whose output would be smaller than one pixel. The message names the layer and its input.
class ShapeTooSmall : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ConvOptions {
  std::int64_t channels = 0;  // of the output
  std::int64_t kernel = 1, stride = 1, pad = 0;
  std::int64_t groups = 1;
  bool bias = false;
};

struct WindowOptions {
  std::int64_t kernel = 1, stride = 1, pad = 0;
  std::int64_t end_pad = 0;  // at the bottom and right, beyond pad
};

struct LinearOptions {
  std::int64_t features = 0;  // of the output
  bool bias = true;
  double deviation = 0;  // see Layer
};

struct TableOptions {
  std::int64_t rows = 0;   // position_embedding: at least the sequence's length
  std::int64_t width = 0;  // embedding: features of a token
  double deviation = 1;
};

// Layers stand in an order in which they can run; the last is the output. Each call adds a layer and returns
// its index. Throws ShapeTooSmall, and std::logic_error where a layer does not fit its inputs.
class Graph {
 public:
  using Value = std::size_t;

  explicit Graph(Shape image);
  explicit Graph(const Tokens& tokens);

  Value image() const { return 0; }  // or the tokens
  // Of a network that reads tokens, not an image.
  const std::optional<Tokens>& tokens() const { return tokens_; }
  // A graph with the same input and no layers yet.
  Graph input_only() const { return tokens_ ? Graph(*tokens_) : Graph(layers_[0].shape); }
  Value conv2d(std::string name, Value x, const ConvOptions& options);
  Value batch_norm(std::string name, Value x, double gain = 1);
  Value relu(std::string name, Value x) { return activation(std::move(name), x, Activation::relu); }
  Value relu6(std::string name, Value x) { return activation(std::move(name), x, Activation::relu6); }
  Value leaky_relu(std::string name, Value x) {
    return activation(std::move(name), x, Activation::leaky_relu);
  }
  Value activation(std::string name, Value x, Activation activation);
  Value max_pool(std::string name, Value x, const WindowOptions& window);
  // Adds nothing and returns x where x already has that size.
  Value average_pool(std::string name, Value x, std::int64_t size = 1);
  Value add(std::string name, Value a, Value b);
  Value flatten(std::string name, Value x);
  Value linear(std::string name, Value x, std::int64_t features);
  Value linear(std::string name, Value x, const LinearOptions& options);
  // dst = x · Eᵀ without a bias, E the table of the embedding layer `table`: one parameter, used twice
  // (Press and Wolf 2017, arXiv:1608.05859).
  Value tied_linear(std::string name, Value x, Value table);
  Value softmax(std::string name, Value x);
  // Of two to four maps.
  Value concat(std::string name, std::vector<Value> maps);
  Value upsample(std::string name, Value x);
  // With a bias, without padding: patches of kernel × kernel, `kernel` pixels apart.
  Value conv_transpose(std::string name, Value x, std::int64_t channels, std::int64_t kernel);
  // Of one to four maps whose channels are a multiple of `classes`.
  Value rows(std::string name, std::vector<Value> maps, std::int64_t classes);
  Value gelu(std::string name, Value x) { return activation(std::move(name), x, Activation::gelu); }
  // A row of a table of vocabulary × width for each token.
  Value embedding(std::string name, Value x, const TableOptions& options);
  Value position_embedding(std::string name, Value x, const TableOptions& options);
  Value layer_norm(std::string name, Value x);
  Value attention(std::string name, Value x, std::int64_t heads);

  // Adds a layer described in full; its shape is inferred from its inputs (conv2d, conv_transpose, linear and
  // rows: shape.c is given).
  Value append(Layer layer);

  const std::vector<Layer>& layers() const { return layers_; }
  const Layer& operator[](Value value) const { return layers_.at(value); }
  Layer& edit(Value value) { return layers_.at(value); }  // for passes; shapes are not inferred again
  Value output() const { return layers_.size() - 1; }
  Shape input_of(Value value) const { return layers_.at(layers_.at(value).inputs.at(0)).shape; }

  // The layer that the parameter is counted, drawn and stored with.
  Value owner_of(Value value, Slot slot) const {
    return slot == Slot::weights ? layers_.at(value).shares.value_or(value) : value;
  }

  // How many times each layer's output is read by later layers; the output counts one more reader.
  std::vector<int> reader_counts() const;

  // Trainable parameters: weights and biases of convolutions, transposed ones too, norms' scales and shifts,
  // linear weights and biases, tables. What two layers share counts once.
  std::int64_t parameter_count() const;
  // Multiply-adds a sample as papers and model zoos publish them: convolutions, transposed ones too, linear
  // layers and the two products of attention only; products with padding and with masked positions counted.
  std::int64_t macs() const;

 private:
  Shape infer(const Layer& layer) const;
  Shape joined(const Layer& layer) const;
  std::int64_t row_count(const Layer& layer) const;
  std::optional<Tokens> tokens_;
  std::vector<Layer> layers_;
};

}  // namespace bench::kernels
