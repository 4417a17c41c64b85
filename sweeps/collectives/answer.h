// What a collectives sweep answers: how long each operation takes by size. Findings, tables and charts put it
// into words.
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

  bool has_model() const { return curve && points.size() >= 3; }  // fewer sizes tell no latency
  std::optional<Estimate> bus_bytes_per_s() const;                // of ever larger sizes, by the model
  std::string finding_name() const;
};

struct CollectivesAnswer {
  std::vector<CollectiveSeries> series{};  // in the order of the operations
};
// Points without CollectiveParams are left out. Pure; copes with few points.
CollectivesAnswer collectives_answer(const ResultDocument& document);

// model/… of each operation; ranks: where they run.
std::vector<Finding> collectives_findings(const ResultDocument& document, const RankSetup& setup);
std::vector<TextTable> collectives_tables(const ResultDocument& document);

// The series, then where the ranks run.
void choose_collectives_headlines(const CollectivesAnswer& answer, std::vector<Finding>& findings);

}  // namespace bench::sweeps
