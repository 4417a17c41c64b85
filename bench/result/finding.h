// Which findings are printed, and what they ask the reader to do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// nullptr: there is none.
const Finding* find_finding(const std::vector<Finding>& findings, std::string_view name);
// That of a series, whose name ends in its label: "t0/fp32"; of a run with one series it does not: "t0".
const Finding* find_finding(const std::vector<Finding>& findings, std::string_view name,
                            std::string_view series);
std::optional<double> find_value(const std::vector<Finding>& findings, std::string_view name);
// Those whose names begin so, in their order: "demand/", of which there is one a GPU.
std::vector<const Finding*> find_findings(const std::vector<Finding>& findings, std::string_view prefix);

// "Predicted: use batch 64" of "Use batch 64". An abbreviation keeps its capitals.
std::string with_origin(std::string_view origin, std::string_view claim);

inline constexpr int kHeadlines = 5;

// The findings with these names become headlines 1, 2, …, five at most. A finding without a value is left
// out, unless its name is the first or `without_values` takes them too.
void set_headlines(std::vector<Finding>& findings, const std::vector<std::string>& names,
                   bool without_values = false);

}  // namespace bench
