// Options of the layers that many networks have. Any other layer's options are declared with its operation:
// see CONTRIBUTING.md.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/operations/activation.h"

namespace bench::kernels {

struct ConvOptions {
  std::int64_t channels = 0;  // of the result
  std::int64_t kernel = 1, stride = 1, pad = 0;
  std::int64_t groups = 1;
  bool bias = false;
};

// Patches of kernel × kernel, `kernel` pixels apart, with a bias.
struct ConvTransposeOptions {
  std::int64_t channels = 0;  // of the result
  std::int64_t kernel = 2;
};

struct BatchNormOptions {
  double gain = 1;  // the scale is drawn around it
};

struct LayerNormOptions {};

struct ActivationOptions {
  Activation activation = Activation::relu;
};

struct WindowOptions {  // of a maximum
  std::int64_t kernel = 1, stride = 1, pad = 0;
  std::int64_t end_pad = 0;  // at the bottom and right, beyond pad
};

// To size × size pixels whatever the input's size; of a sequence, the mean over its positions.
struct AveragePoolOptions {
  std::int64_t size = 1;
};

struct AddOptions {};
struct FlattenOptions {};
struct SoftmaxOptions {};
struct UpsampleOptions {};  // each pixel twice in both directions

// Along a dimension, counted from the outermost; nullopt: along channels, where smaller maps are centred
// among zeros.
struct ConcatOptions {
  std::optional<std::size_t> dimension{};
};

struct RowsOptions {  // maps of scores as rows of classes, see kernels/operations/rows/rows.h
  std::int64_t classes = 1;
};

struct LinearOptions {        // of a sequence: at every position
  std::int64_t features = 0;  // of the result
  bool bias = true;
  double deviation = 0;  // standard deviation that the weights are drawn with; 0 for √(2 / inputs)
};

struct TableOptions {
  std::int64_t rows = 0;   // position_embedding: at least the sequence's length
  std::int64_t width = 0;  // embedding: features of a token
  double deviation = 1;
};

struct EmbeddingOptions : TableOptions {};
struct PositionEmbeddingOptions : TableOptions {};

struct AttentionOptions {  // causal, over a sequence of queries, keys and values
  std::int64_t heads = 1;
};

}  // namespace bench::kernels
