#include "bench/generate/weight_format.h"

#include <algorithm>
#include <array>

namespace bench {
namespace {

struct KnownFormat {
  std::string_view name;
  double bits;
  double output_bits;
  int width;
  bool is_gguf = false;
};

// Of GGUF's the mean over a file's tensors: block scales, and tensors that keep more bits.
constexpr std::array<KnownFormat, 13> kWeightFormats{{
    {"fp32", 32, 32, 16},
    {"bf16", 16, 16, 16},
    {"fp16", 16, 16, 16},
    {"fp8", 8, 16, 8},
    {"int8", 8.05, 16, 8},
    {"int4", 4.15, 16, 4},
    {"mxfp4", 4.25, 16, 4},
    {"q8_0", 8.5, 8.5, 8, true},
    {"q6_k", 6.56, 6.56, 4, true},
    {"q5_k_m", 5.6, 6.56, 4, true},
    {"q4_k_m", 4.8, 6.56, 4, true},
    {"q4_0", 4.5, 6.56, 4, true},
    {"q3_k_m", 3.9, 6.56, 4, true},
}};
constexpr std::string_view kGgufEngine = "llama.cpp";

}  // namespace

std::vector<std::string> weight_format_names() {
  std::vector<std::string> names;
  for (const KnownFormat& known : kWeightFormats) {
    names.emplace_back(known.name);
  }
  return names;
}

std::optional<WeightFormat> weight_format(std::string_view name, std::string_view engine) {
  std::string_view stored = name;
  if (engine == kGgufEngine) {
    stored = name == "int8" ? "q8_0" : name == "int4" ? "q4_k_m" : name;
  }
  const auto* const known = std::ranges::find(kWeightFormats, stored, &KnownFormat::name);
  if (known == kWeightFormats.end() || known->is_gguf != (engine == kGgufEngine && known->is_gguf) ||
      (engine == kGgufEngine && stored == "fp8")) {
    return {};
  }
  return WeightFormat{.name = std::string(name),
                      .bits = known->bits,
                      .output_bits = known->output_bits,
                      .width = known->width};
}

WeightBytes weight_bytes(const LanguageModel& model, const WeightFormat& format, std::string_view engine) {
  const double matrix = static_cast<double>(matrix_parameters(model)) * format.output_bits / kBitsAByte;
  const bool is_apart = !model.is_tied && engine != kGgufEngine;
  return {.layers = static_cast<double>(body_parameters(model)) * format.bits / kBitsAByte,
          .output = matrix,
          .embedding = is_apart ? matrix : 0};
}

}  // namespace bench
