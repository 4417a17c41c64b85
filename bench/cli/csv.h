// Tables as lines of comma-separated values (RFC 4180).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/result.h"

namespace bench {

// In quotes where it holds a comma, a quote or a line's end.
std::string csv_field(std::string_view text);
// Six digits; empty: not known.
std::string csv_number(const std::optional<double>& value);

std::string csv_table(const std::vector<std::vector<std::string>>& rows);

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
