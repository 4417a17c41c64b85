// Points as tables for a person: those of a result, and those of a plan.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// A row a point: its parameters, throughput with interval, step time, and memory as tracked, as planned where
// that differs, and as the driver saw it; ○ where the point is less reliable than others. Then the points
// that were not measured, those of one status and reason together, and the sweep's own tables. Lines of text
// wrap at `width` columns; table rows do not.
void print_points(std::ostream& out, const ResultDocument& document, int width,
                  const std::vector<TextTable>& tables = {});

void print_text_table(std::ostream& out, const TextTable& table);

// A point of a plan that was not run (--dry-run).
struct PlannedPoint {
  std::string name;
  std::int64_t predicted_bytes = 0;  // at the peak of a step
  std::string problem;  // why it would not run: "unsupported: …", "oom: …"; empty where it would
};

// `open_ended`: the points grow until the cap or the time budget ends them.
void print_planned(std::ostream& out, const std::vector<PlannedPoint>& points, std::int64_t memory_cap,
                   bool open_ended);

}  // namespace bench
