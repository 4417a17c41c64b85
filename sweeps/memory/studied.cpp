#include "sweeps/memory/studied.h"

#include <map>

#include "sweeps/memory/label.h"

namespace bench::sweeps {

std::vector<StudiedSeries> studied_series(const SweepStudy& study) {
  std::vector<StudiedSeries> all;
  std::map<std::string, const MeasuredPoint*> measured;
  for (const MeasuredPoint& point : study.document.benchmarks) {
    measured[point.name] = &point;
  }
  for (const SweepPoint& point : study.plan.points) {
    const std::string label = memory_label(point.params, study.plan.axes);
    if (all.empty() || all.back().label != label) {
      all.push_back({label, &point});
    }
    if (const auto at = measured.find(point.name); at != measured.end()) {
      all.back().largest = at->second;
      all.back().largest_point = &point;
    }
  }
  return all;
}

}  // namespace bench::sweeps
