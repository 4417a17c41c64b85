// Results as comma-separated values.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// A line for each point, also those that were not measured: its status, parameters, rate and step time with
// their intervals (95 %, of a prediction 80 %), memory, flags, and why it was not measured.
std::string result_csv(const ResultDocument& document);

// The same of several results, with their files in the first column.
struct ResultOfFile {
  std::string file;
  const ResultDocument* document;
};
std::string results_csv(const std::vector<ResultOfFile>& results);

}  // namespace bench
