// What a network reads: a batch of images or of token sequences, and seeded samples of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// One sample as it is drawn: an image in NCHW order, or token ids, which a float holds exactly up to 2^24.
using Sample = std::vector<float>;

// The batch in device memory: the stored image tensor, or int32[batch][sequence].
struct InputBatch {
  TensorDesc tensor;
  bool tokens = false;

  std::int64_t bytes() const { return tensor.bytes(); }
  std::int64_t sample_bytes() const { return tensor.bytes() / tensor.n; }
  // One sample into sample_bytes() bytes of host memory.
  void store_sample(std::span<const float> sample, void* stored) const;
};

// Sample number `index` of the network's kind.
Sample seeded_sample(const Graph& graph, std::uint64_t seed, std::uint64_t index);

// The first `count` tokens of a sequence without end, uniform over the vocabulary: no text, in which few
// words make up most, but the hardest case for a cache.
std::vector<std::int32_t> seeded_tokens(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed,
                                        std::uint64_t index);

}  // namespace bench::kernels
