// Memory of text generation on a card, by arithmetic: weights, keys and values, activations of the prompt.
// What the driver's context and the libraries take comes on top and is told apart: tools that count a
// process's own bytes leave it out.
#pragma once

#include <cstdint>

#include "bench/generate/speed.h"

namespace bench {

struct GenerationMemory {
  double weights = 0;
  double kv = 0;
  double activations = 0;  // of the prompt: of all its tokens, or of a chunk

  double total() const { return weights + kv + activations; }
};

// Tokens of a prompt that an engine takes at once; 0: all of them.
std::int64_t chunk_of(std::string_view engine);

// Of all cards together. `prompt`: tokens; what a sequence holds is `context`.
GenerationMemory generation_memory(const GenerationSetting& setting, std::int64_t batch, std::int64_t context,
                                   std::int64_t prompt);
// Of its total: 80 % of what was measured.
Interval memory80(const GenerationMemory& memory, const WeightFormat& format);

// Bytes that are free for it on so many cards, next to the driver's context and the libraries: at the least
// and at the most.
Interval room_on(const Gpu& gpu, int cards);

enum class Fits { yes, perhaps, no };
Fits fits(const GenerationMemory& memory, const WeightFormat& format, const Interval& room);

// The largest value of at most `most` that fits() is sure of; 0: not even 1.
std::int64_t largest_batch(const GenerationSetting& setting, std::int64_t context, std::int64_t prompt,
                           std::int64_t most);
std::int64_t largest_context(const GenerationSetting& setting, std::int64_t batch, std::int64_t most);

}  // namespace bench
