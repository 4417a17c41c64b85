// Causal attention as a graph of cuDNN describes it. No header of cuDNN is needed.
//
// The graph is one that cuDNN's fused kernels recognise: scores and probabilities are tensors between
// operations, which are never in memory. For the backward pass the forward one keeps a number for each row,
// the logarithm of its sum of exponentials.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/dtype.h"
#include "kernels/backends/cudnn/convolution.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::cudnn {

// Also the key under which plans are kept.
struct AttentionPass {
  enum class Kind { inference, training, backward };

  Kind kind = Kind::inference;
  Dtype dtype = Dtype::fp16;
  std::int64_t batch = 1, heads = 1, sequence = 1, head_size = 1;

  auto operator<=>(const AttentionPass&) const = default;  // NOLINT(modernize-use-nullptr)

  // Each n, heads, positions, features.
  Tensor qkv() const;         // query, key or value within rows of all three
  Tensor out() const;         // the result within its rows
  Tensor square() const;      // scores
  Tensor row_values() const;  // a number for each row of scores
  // As qkv(), a head's matrix after the other: the query's gradient while it is summed up in fp32.
  Tensor dense() const;
  // With positions and features swapped.
  static Tensor transposed(Tensor tensor);
};

AttentionPass pass_of(const Attention& spec);

// "attention training fp16 n8, 12 heads of 64, sequence 1024"
std::string described(const AttentionPass& pass);

// Why cuDNN of that version (91900 is 9.19.0) cannot compute it on a device of that compute capability;
// nullopt where it may. Only what is known without asking cuDNN.
std::optional<std::string> unsupported(const AttentionPass& pass, int compute_capability,
                                       std::int64_t version);

}  // namespace bench::kernels::cudnn
