#include "bench/generate/catalogue.h"

#include <nlohmann/json.hpp>

#include "bench/result/embedded_files.h"

namespace bench {

const LanguageModels& language_models() {
  static const LanguageModels models(Json::parse(embedded_text("results/language-models.json")));
  return models;
}

const GenerationCoefficients& generation_speeds() {
  static const GenerationCoefficients coefficients =
      generation_coefficients(Json::parse(embedded_text("results/generation.json")));
  return coefficients;
}

}  // namespace bench
