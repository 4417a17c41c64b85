// The language models and the coefficients of their speed that are compiled into the program, read when they
// are first asked for: results/language-models.json and results/generation.json.
#pragma once

#include "bench/generate/language_model.h"
#include "bench/generate/speed.h"

namespace bench {

const LanguageModels& language_models();
const GenerationCoefficients& generation_speeds();

}  // namespace bench
