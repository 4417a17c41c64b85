// What the system saw against what was planned.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/units.h"
#include "sweeps/memory/claims.h"

namespace bench::sweeps {
namespace {

double beyond_step(const BatchPoint& point) {
  return static_cast<double>(point.memory.driver_used - point.step_bytes);
}

// The share by which the system saw more than a step's bytes and `other`; negative for less.
double off_by(const BatchPoint& point, double other) {
  return (beyond_step(point) - other) / static_cast<double>(point.memory.driver_used);
}

}  // namespace

std::optional<Finding> claim_system(const std::vector<MemorySeries>& all) {
  Finding finding = finding_of("system_memory", "ratio");
  double worst = 0;
  const BatchPoint* worst_point = nullptr;
  std::string worst_label;
  std::size_t near = 0;
  double worst_calibrated = 0;
  std::size_t calibrated = 0;
  for (const MemorySeries& series : all) {
    std::vector<const BatchPoint*> points;
    for (const BatchPoint& point : series.batches.points) {
      if (point.memory.driver_used > 0 && point.step_bytes > 0) {
        points.push_back(&point);
        finding.evidence.push_back(point.name);
        const double off = off_by(point, static_cast<double>(point.library_bytes));
        near += std::abs(off) <= kUncalibrated ? 1 : 0;
        if (worst_point == nullptr || std::abs(off) > std::abs(worst)) {
          worst = off;
          worst_point = &point;
          worst_label = series.batches.label;
        }
      }
    }
    // What two small batches show beyond the plan is taken to be there at every batch.
    for (std::size_t i = 2; i < points.size(); ++i) {
      const double other = (beyond_step(*points[0]) + beyond_step(*points[1])) / 2;
      worst_calibrated = std::max(worst_calibrated, std::abs(off_by(*points[i], other)));
      ++calibrated;
    }
  }
  if (worst_point == nullptr) {
    return std::nullopt;
  }
  finding.value = worst;
  finding.details = {{"worst", worst},
                     {"batch", worst_point->batch},
                     {"label", worst_label},
                     {"within_5_percent", near},
                     {"calibrated_points", calibrated}};
  finding.claim = fmt::format(
      "What the system saw during steps lies within 5 % of the plan, with an estimate for compiled code, at "
      "{} of {} "
      "points; furthest off is {} at batch {}, {} {} the plan ({} of {})",
      near, finding.evidence.size(), worst_label, worst_point->batch, format_percent(std::abs(worst)),
      worst < 0 ? "below" : "above",
      format_bytes(
          static_cast<std::int64_t>(std::abs(worst) * static_cast<double>(worst_point->memory.driver_used))),
      format_bytes(worst_point->memory.driver_used));
  if (calibrated > 0) {
    finding.details["worst_calibrated"] = worst_calibrated;
    finding.claim += fmt::format(
        "; calibrated on each series' two smallest batches, {} predicted within {}",
        calibrated == 1 ? "the other point is" : fmt::format("the other {} points are", calibrated),
        format_percent(worst_calibrated));
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
