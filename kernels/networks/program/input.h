// A network's input: a batch of images, of token sequences or of other values, and seeded samples of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// One sample as it is drawn, the last dimension fastest; token ids are floats, which hold them exactly up to
// 2^24.
using Sample = std::vector<float>;

// The batch in device memory: the stored tensor, or int32[batch][sequence].
class InputBatch {
 public:
  InputBatch(const Graph& graph, Graph::Value input, const TensorDesc& tensor, std::int64_t batch);

  std::int64_t bytes() const { return tensor_.bytes(); }
  std::int64_t sample_bytes() const { return tensor_.bytes() / batch_; }
  // One sample into sample_bytes() bytes of host memory.
  void store_sample(std::span<const float> sample, void* stored) const;
  // A stored sample to its place in a batch: in one piece, or where dimensions come before the batch in as
  // many as they have elements.
  void upload_sample(std::int64_t index, std::span<const std::byte> stored, Device& device,
                     std::byte* batch) const;

 private:
  TensorDesc tensor_;
  std::int64_t batch_;
  std::int64_t pieces_;  // of a sample
  bool maps_;
  bool tokens_;
};

// Sample number `index` of the network's kind.
Sample seeded_sample(const Graph& graph, std::uint64_t seed, std::uint64_t index);
// Samples first to first + count - 1 of an endless series.
std::vector<Sample> seeded_samples(const Graph& graph, std::uint64_t seed, std::uint64_t first,
                                   std::uint64_t count);

// The first `count` tokens of a sequence without end, uniform over the vocabulary: no text, in which few
// words make up most, but the hardest case for a cache. An id that its place forbids is replaced by
// the next that it allows.
std::vector<std::int32_t> seeded_tokens(const Tokens& kind, std::int64_t count, std::uint64_t seed,
                                        std::uint64_t index);

}  // namespace bench::kernels
