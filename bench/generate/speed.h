// How fast a card generates text, predicted from its data sheet and published measurements
// (results/generation.json, docs/generate.md):
//
//   step   = (memory^4 + products^4)^(1/4) + layers · fixed       of every sequence one token
//   memory = bytes read / (bandwidth · share), products = operations / rate
//
// A prompt takes the same, with all its tokens at once, and its rate is higher than a step's. A step has one
// rate up to 32 sequences; from there it rises, and at 512 sequences it is a prompt's. share, fixed and rate
// are those of an engine, a kind of memory and a class of weights. Where no measurement has all three, they
// follow from measurements that have one or two, and the interval is wider.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/generate/language_model.h"
#include "bench/generate/weight_format.h"
#include "bench/json.h"
#include "bench/model/gpu.h"
#include "bench/stats/estimate.h"

namespace bench {

struct GenerationCoefficients {
  // Logarithms of: the share of the bandwidth, fixed seconds a layer, FLOP/s of a prompt and of a step on the
  // reference card.
  static constexpr std::size_t kLogs = 4;
  struct Combination {
    std::string engine;
    std::string memory;  // "gddr", "hbm" or "shared" with the host
    int bits = 16;       // 16, 8 or 4
    bool has_tensor_cores = true;
    int rows = 0;  // that were measured of it
    std::array<double, kLogs> logs{};
    std::array<std::array<double, kLogs>, kLogs> covariance{};
  };
  struct Chip {  // factors of time that its cards share, as logarithms
    double log = 0;
    double deviation = 0;
    double rate_log = 0;
    double rate_deviation = 0;
  };
  struct Factor {
    double log = 0;
    double deviation = 0;
  };
  std::vector<Combination> combinations;
  std::map<std::string, Chip> chips;
  std::map<std::string, double> reference;  // card: peak, bandwidth, power, fp32
  std::map<std::string, double> exponents;  // of the rate, by the same names
  std::map<std::string, double> deviations;
  Factor experts;
  Factor window;
  double tensors_log = 0;  // seconds that a layer's exchange between cards adds, where they share each matrix
  double layers_log = 0;   // and where they share the layers

  // The engines that are predicted, in the order of lists.
  std::vector<std::string> engines() const;
};

// results/generation.json. Throws UsageError naming the field that is wrong.
GenerationCoefficients generation_coefficients(const Json& document);

struct GenerationSetting {
  const Gpu* gpu = nullptr;
  int cards = 1;
  std::string engine;
  const LanguageModel* model = nullptr;
  WeightFormat format;
  double kv_bytes_a_value = 2;
};

// Seconds, with the interval that holds 80 %.
struct PredictedTime {
  double seconds = 0;
  Interval interval80;
  double memory_share = 0;    // of the time, that the memory's bytes would take alone
  double products_share = 0;  // and that the products would
};

// That were measured of the setting's engine, kind of memory and class of weights.
int rows_measured(const GenerationSetting& setting, const GenerationCoefficients& coefficients);

// Why the engine does not run on the card; empty: it does.
std::string engine_refusal(std::string_view engine, const Gpu& gpu);

// Whether cards share each matrix, so that every card works on each token; else they share the layers, and
// work in turn.
bool shares_tensors(std::string_view engine);

// Of a step that gives each of `batch` sequences, which hold `context` tokens, one more.
PredictedTime predict_step(const GenerationSetting& setting, const GenerationCoefficients& coefficients,
                           std::int64_t batch, std::int64_t context);
// Of one prompt.
PredictedTime predict_prompt(const GenerationSetting& setting, const GenerationCoefficients& coefficients,
                             std::int64_t tokens);

}  // namespace bench
