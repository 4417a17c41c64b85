// A step's work as eager PyTorch does it, in the terms of the model of GPUs. docs/predict-model.md has the
// formulas.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

// How a framework computes attention: in one kernel, which saves no scores, or written out as products and a
// softmax (PyTorch before 2.0, and code that asks for the weights), which saves them.
enum class AttentionForm { fused, eager };
std::string_view name_of(AttentionForm form);  // "fused", "eager"
std::optional<AttentionForm> parse_attention(std::string_view text);

// What of eager PyTorch's step the network does not tell.
struct EagerForm {
  bool cast_whole = false;                   // the model in 16 bits, without autocast
  std::optional<AttentionForm> attention{};  // none: not known
  bool channels_last = false;                // convolutions' images (torch.channels_last)
};

// Products by how fast cards run them.
enum class ProductClass : std::uint8_t {
  winograd,   // 3×3 of stride 1: cuDNN may use Winograd's algorithm
  pointwise,  // 1×1
  dense,      // other ungrouped convolutions
  stem,       // up to 4 input channels
  grouped,
  depthwise,
  linear,
  batched,    // matrix products, one for each sample and head
  attention,  // fused
};
inline constexpr std::size_t kProductClasses = 9;

// Bytes moved, by what moves them.
enum class Traffic : std::uint8_t {
  convolution,
  grouped,
  depthwise,
  matrix,
  batch_norm,
  norm,  // other norms, and softmax
  elementwise,
  movement,  // copies, pooling, and the rest
  weights,
};
inline constexpr std::size_t kTraffics = 9;

struct StepTerms {
  std::array<double, kProductClasses> flops{};  // of forward products, rounded up to whole tiles
  std::array<double, kProductClasses> grads{};  // of the gradients of inputs and weights
  std::array<double, kTraffics> bytes{};
  double tile = 0;      // FLOPs of one tile of each product
  double launches = 0;  // operations that the host launches
};

// Terms of one mode, dtype and optimizer; a step of a batch is per_sample · batch + per_step.
struct NetworkTerms {
  StepTerms per_sample;
  StepTerms per_step;
  // Bytes that forms of code spare and add: a sample's, and those of a step's weights.
  std::array<double, kTraffics> spared{};
  std::array<double, kTraffics> added{};
  double spared_weights = 0;
  double parameters = 0;  // trained values
  // Held at the peak, the input included. Training: saved tensors and the largest operation's; inference:
  // live ones.
  double peak_bytes_per_sample = 0;
  // Times that, what forms of code take that save less and more; and the least of all forms, which the
  // network tells are not likely.
  Interval saving{.low = 1, .high = 1};
  double least_saving = 1;
  bool has_attention = false;
  std::optional<AttentionForm> attention{};  // that memory is of; none: it spans both
  double input_bytes_per_sample = 0;
  bool is_language = false;          // no convolution
  bool reads_tokens = false;         // sequences, which vary in length
  double unknown_share = 0;          // of the step's bytes, of operations that no class holds
  std::vector<std::string> unknown;  // their kinds
  bool has_other_loss = false;       // it answers with maps or boxes: no classes of an image or a token
  bool computes_again = false;       // values in the backward pass: no such step was measured
  // Of a file: its exporter folded batch norms into convolutions, which count here; or may have, and they do
  // not.
  bool norms_put_back = false;
  bool may_lack_norms = false;
};

}  // namespace bench
