// What ranks give that have a stage of the network each, from measured steps.
#pragma once

#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"
#include "sweeps/cards/findings.h"

namespace bench::sweeps {

// The share of a step in which each rank works on nothing, because the pipeline fills and empties, where all
// stages take as long.
double pipeline_idle(int stages, std::int64_t micro_batches);
// By rank: the share of a step in which it computes nothing.
std::vector<double> idle_shares(const CardsPoint& point);

std::vector<Finding> stage_findings(const std::vector<CardsPoint>& all, const ResultDocument& document);
std::vector<TextTable> stage_tables(const std::vector<CardsPoint>& all);

}  // namespace bench::sweeps
