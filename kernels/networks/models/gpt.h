// Decoders like GPT-2's, of any size.
#pragma once

#include <cstdint>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

struct GptSizes {
  std::int64_t sequence = 256;
  std::int64_t vocabulary = 50257;
  std::int64_t positions = 1024;  // the longest sequence
  std::int64_t width = 768;       // features of a position
  std::int64_t layers = 12;
  std::int64_t heads = 12;  // a divisor of the width
};

// Logits of the next token at every position.
Graph gpt(const GptSizes& sizes);

}  // namespace bench::kernels
