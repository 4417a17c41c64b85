// How a model's weights are stored: bits a weight, scales included.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/generate/language_model.h"

namespace bench {

inline constexpr double kBitsAByte = 8;

struct WeightFormat {
  std::string name;         // "int4"
  double bits = 16;         // of the layers
  double output_bits = 16;  // of the output matrix and the embedding
  int width = 16;           // 16, 8 or 4: whose speed it has
  double fallback = 1;      // times as many bits in rows that the format's blocks do not divide
};

// fp32, bf16, fp16, fp8, int8, int4, mxfp4, and those of GGUF files: q8_0, q6_k, q5_k_m, q4_k_m, q4_0,
// q3_k_m.
std::vector<std::string> weight_format_names();
// int8 and int4 are what the engine makes of them: q8_0 and q4_k_m in llama.cpp, else scales of 16 bits for
// each channel, and for each 128 weights. nullopt: there is none of this name, or the engine has no such
// format.
std::optional<WeightFormat> weight_format(std::string_view name, std::string_view engine);

// Bytes on the card.
struct WeightBytes {
  double layers = 0;
  double output = 0;
  double embedding = 0;  // 0 where it is the output matrix, or stays with the host
};

// llama.cpp leaves an embedding apart with the host, and stores rows that are no multiple of a k-quant's 256
// weights in the next larger format of 32 (llama.cpp's llama-quant.cpp).
WeightBytes weight_bytes(const LanguageModel& model, const WeightFormat& asked, std::string_view engine);

}  // namespace bench
