// Options of the layers that many networks have. Any other layer's options are declared with its operation:
// see CONTRIBUTING.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/operations/activation.h"
#include "kernels/operations/window.h"

namespace bench::kernels {

// Softmax over a dimension, counted from the outermost; nullopt: over the last one, of single-pixel maps the
// channels. `log`: its logarithm.
struct SoftmaxOptions {
  std::optional<std::size_t> dimension{};
  bool log = false;
};

// Over maps; a signal of one dimension is maps of height 1.
struct ConvOptions {
  std::int64_t channels = 0;  // of the result
  PerAxis kernel = 1, stride = 1;
  Padding pad = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = false;
  double gain = 1;  // the weights' deviation is that many times √(2 / inputs)
  // Of a file: whether its exporter folded a batch norm into it; nullopt: nothing tells.
  std::optional<bool> holds_norm{};
};

// Patches of the kernel's size, `stride` pixels apart; where no stride is given they touch and do not
// overlap. See kernels/operations/conv_transpose/conv_transpose.h.
struct ConvTransposeOptions {
  std::int64_t channels = 0;  // of the result
  PerAxis kernel = 2;
  std::optional<PerAxis> stride{};
  Padding pad = 0;
  PerAxis output_pad = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

struct BatchNormOptions {
  double gain = 1;  // the scale is drawn around it
  float epsilon = 1e-5F;
};

// Over the last dimension; of single-pixel maps over the channels.
struct LayerNormOptions {
  float epsilon = 1e-5F;
  bool scale = true, shift = true;  // a shift has a scale
};

struct ActivationOptions {
  Activation activation = Activation::relu;
};

struct PoolOptions {  // over windows
  PerAxis kernel = 1, stride = 1;
  Padding pad = 0;
  std::int64_t end_pad = 0;  // at the bottom and right, beyond pad
  PerAxis dilation = 1;
  bool average = false;        // else the maximum
  bool count_padding = false;  // an average divides by the padding inputs too
  bool round_up = false;       // a last window that fits only in part is one, if it begins within the padding
};

// To size × size pixels whatever the input's size; of a sequence, the mean over its positions.
struct AveragePoolOptions {
  std::int64_t size = 1;
};

struct AddOptions {};
struct FlattenOptions {};

// Along a dimension, counted from the outermost; nullopt: along channels, where smaller maps are centred
// among zeros.
struct ConcatOptions {
  std::optional<std::size_t> dimension{};
};

struct RowsOptions {  // maps of scores as rows of classes, see layers/rows.cpp
  std::int64_t classes = 1;
};

struct LinearOptions {        // of a sequence: at every position
  std::int64_t features = 0;  // of the result
  bool bias = true;
  double deviation = 0;  // standard deviation that the weights are drawn with; 0 for √(2 / inputs)
  bool plain = false;    // the weights are stored as they are drawn, for several layers that share them
  std::size_t rank = 0;  // dimensions of its input where the network was written; 0: those that it reads
};

struct TableOptions {
  std::int64_t rows = 0;   // position_embedding: at least the sequence's length
  std::int64_t width = 0;  // embedding: features of a token
  double deviation = 1;
};

struct EmbeddingOptions : TableOptions {};
struct PositionEmbeddingOptions : TableOptions {};

// Over a sequence of queries, keys and values, side by side in one input or in three.
struct AttentionOptions {
  std::int64_t heads = 1;
  bool causal = true;  // a position sees none after it
  float scale = 0;     // of the scores; 0: 1/√(features of a head)
};

}  // namespace bench::kernels
