// The prediction for several cards from results of several machines with one model of device.
#pragma once

#include <string>
#include <vector>

#include "bench/predict/cards_prediction.h"
#include "bench/result/result.h"

namespace bench {

// The median machine's figures; intervals reach from the slowest machine to the fastest. `predictions`: of
// the documents, two or more. Notes name a machine that is unlike the rest.
CardsPrediction join_machines(const std::vector<const ResultDocument*>& documents,
                              const std::vector<CardsPrediction>& predictions);

}  // namespace bench
