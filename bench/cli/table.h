// The tables of a run: points of a result and points of a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// A row a point. Measured: its parameters, throughput with interval, step time, and memory as tracked, as
// planned where that differs, and as the driver saw it; ○ where the point is less reliable than others.
// Predicted, of a device that is not here: throughput with its 80 % interval. Empty where there are none.
TextTable points_table(const ResultDocument& document);
// What the predicted ones are predicted for, and by what.
std::string predicted_title(const ResultDocument& document);
// A row for points of one status and reason, three of them by name.
TextTable unmeasured_table(const ResultDocument& document);

// A line for each status, of errors one for each reason; where they are more than two, the second counts the
// rest. Points that lacked time have none: the warning counts them.
// `verbose`: all points, a line for each reason, with the names of three.
std::vector<Paragraph> unmeasured_in_words(const ResultDocument& document, bool verbose);

// The parameters' names, each once, in the order in which they first appear.
void add_parameters(const Json& params, std::vector<std::string>& names);

// "infer/fp16/batch:1", or "90 points (a, b, c and 87 more)" with the first `named` of them.
std::string points_in_words(const ResultDocument& document, const std::vector<const UnmeasuredPoint*>& points,
                            std::size_t named);

// PlannedPoint::problem of what is larger than the cap.
inline constexpr const char* kBeyondCap = "oom: more than the memory cap";

// A point of a plan that was not run (--dry-run).
struct PlannedPoint {
  std::string name{};
  std::int64_t predicted_bytes = 0;  // at the peak of a step
  std::string problem{};        // why it would not run: "unsupported: …", "oom: …"; empty where it would
  MemoryByCategory memory{};    // of predicted_bytes; none where they could not be counted
  std::int64_t most_bytes = 0;  // that it may be, which decides whether it fits
  bool out_of_memory = false;
};

// Of a modelled card with the most that a point may take. `with_categories`: what fills the memory, and names
// without what all share.
TextTable planned_table(const std::vector<PlannedPoint>& points, std::int64_t memory_cap,
                        bool with_categories = false);
std::string planned_csv(const std::vector<PlannedPoint>& points);

}  // namespace bench
