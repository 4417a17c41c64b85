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
  double fallback = 1;  // of k-quants: what rows that are no multiple of 256 take more
};

constexpr double kQ8InsteadOfQ6 = 8.5 / 6.5625;

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
    {"q6_k", 6.56, 6.56, 4, true, kQ8InsteadOfQ6},
    {"q5_k_m", 5.6, 6.56, 4, true, 6.0 / 5.5},  // q5_1 instead of q5_k
    {"q4_k_m", 4.8, 6.56, 4, true, 5.5 / 4.5},  // q5_0 instead of q4_k
    {"q4_0", 4.5, 6.56, 4, true},
    {"q3_k_m", 3.9, 6.56, 4, true, 4.5 / 3.4375},  // iq4_nl instead of q3_k
}};
constexpr std::int64_t kBlockOfK = 256;
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
                      .width = known->width,
                      .fallback = known->fallback};
}

// Rows of a product hold as many weights as its input has channels: those of the residual stream in all
// matrices but the attention's output and the MLP's.
WeightFormat stored(const WeightFormat& format, const LanguageModel& model) {
  WeightFormat of_model = format;
  if (format.fallback == 1 || model.hidden % kBlockOfK == 0) {
    return of_model;
  }
  const auto inner = static_cast<double>(model.inner) * std::max(1, model.experts);
  const double queries = static_cast<double>(model.heads) * model.head_size;
  const double keys = static_cast<double>(model.kv_heads) * model.head_size;
  const double of_hidden = queries + 2 * keys + 2 * inner;
  const double others = (model.heads * model.head_size % kBlockOfK == 0 ? 0 : queries) +
                        (model.inner % kBlockOfK == 0 ? 0 : inner);
  const double part = (of_hidden + others) / (of_hidden + queries + inner);
  of_model.bits *= 1 + part * (format.fallback - 1);
  of_model.output_bits *= kQ8InsteadOfQ6;
  return of_model;
}

WeightBytes weight_bytes(const LanguageModel& model, const WeightFormat& asked, std::string_view engine) {
  const WeightFormat format = stored(asked, model);
  const double matrix = static_cast<double>(matrix_parameters(model)) * format.output_bits / kBitsAByte;
  const bool is_apart = !model.is_tied && engine != kGgufEngine;
  return {.layers = static_cast<double>(body_parameters(model)) * format.bits / kBitsAByte,
          .output = matrix,
          .embedding = is_apart ? matrix : 0};
}

}  // namespace bench
