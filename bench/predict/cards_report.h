// What `bench predict --cards` prints.
#pragma once

#include <string>

#include "bench/page/page.h"
#include "bench/predict/cards_prediction.h"

namespace bench {

Page cards_page(const CardsPrediction& prediction, bool verbose);
std::string cards_csv(const CardsPrediction& prediction);
std::string cards_json(const CardsPrediction& prediction);

}  // namespace bench
