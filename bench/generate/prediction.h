// What `bench predict` says of a language model: does it fit, how fast, for how many users.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/evaluate/prices.h"
#include "bench/generate/memory.h"
#include "bench/page/page.h"

namespace bench {

struct GenerationRequest {
  LanguageModel model;
  std::vector<Gpu> gpus;
  int cards = 1;  // of a kind, that share the model
  std::string engine;
  std::vector<WeightFormat> formats;
  std::vector<std::int64_t> contexts;  // tokens that a sequence holds when it is decoded
  std::vector<std::int64_t> batches;   // sequences at once
  std::optional<std::int64_t> prompt;  // tokens of a prompt; none: as many as the context
  std::optional<PriceList> prices;
};

struct GenerationPoint {
  std::size_t gpu = 0;     // of the request
  std::size_t format = 0;  // of the request
  std::int64_t context = 0;
  std::int64_t batch = 1;
  std::int64_t prompt = 0;
  GenerationMemory memory;
  Interval memory80;
  Fits fit = Fits::no;
  PredictedTime step;
  PredictedTime first;                       // the prompt of one sequence
  std::optional<double> cost_per_million{};  // tokens that are generated
};

// What a card holds of one format, by plan, and where its limits lie.
struct GenerationLimits {
  std::int64_t largest_context = 0;  // of one sequence; 0: not the weights
  std::int64_t largest_batch = 0;    // at the first context of the request
  std::int64_t ridge_batch =
      0;                     // from which products take longer than reading the weights; 0: beyond kMostBatch
  double kv_bytes = 0;       // of a thousand tokens of one sequence
  PredictedTime kv_time;     // that they add to a step
  double bytes_in_int4 = 0;  // of the weights, on all cards
  int rows = 0;              // measured of this engine, kind of memory and class of weights
  std::string refusal{};     // why the engine does not run on the card; empty: it does
};
inline constexpr std::int64_t kMostBatch = 4096;

struct GenerationPrediction {
  GenerationRequest request;
  std::vector<GenerationPoint> points;   // by card, format, context and batch, in this order
  std::vector<GenerationLimits> limits;  // by card and format
};

GenerationPrediction predict_generation(GenerationRequest request,
                                        const GenerationCoefficients& coefficients);

// `verbose`: what limits each card, where there are several.
Page generation_page(const GenerationPrediction& prediction, bool verbose);
// Columns: docs/generate.md.
std::string generation_csv(const GenerationPrediction& prediction);
Json generation_json(const GenerationPrediction& prediction);

}  // namespace bench
