// What `bench predict --cards` prints.
#pragma once

#include <cstddef>
#include <string>

#include "bench/predict/cards_prediction.h"

namespace bench {

std::string cards_text(const CardsPrediction& prediction, std::size_t width);
std::string cards_markdown(const CardsPrediction& prediction);
std::string cards_csv(const CardsPrediction& prediction);
std::string cards_json(const CardsPrediction& prediction);

}  // namespace bench
