// Findings and tables of the collectives sweep. Pure; copes with few points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"
#include "sweeps/collectives/operation.h"
#include "sweeps/ranks/setup.h"
#include "sweeps/series/size_curve.h"

namespace bench::sweeps {

// Points of one operation that differ in size alone, growing. What is moved is what bus bandwidth counts.
struct CollectiveSeries : CollectiveParams {
  std::vector<SizePoint> points{};
  std::optional<SizeCurve> curve{};  // where it can be fitted
};
// In the order of the operations; points without CollectiveParams are left out.
std::vector<CollectiveSeries> collective_series(const ResultDocument& document);

// model/… of each operation; ranks: where they run.
std::vector<Finding> collectives_findings(const ResultDocument& document, const RankSetup& setup);
std::vector<TextTable> collectives_tables(const ResultDocument& document);

// The models, then where the ranks run. Of a file's findings too.
void choose_collectives_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
