// The memory sweep's points: a series of batches for each mode, dtype and choice of options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sweep.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

SweepPlan plan_memory(const SweepRequest& request, const Device& device);

// Names a series: "fp32 inference", "bf16 training with adam, 4 micro-batches, recomputing"; further options,
// such as the image size, where `axes` has several values of them.
std::string memory_label(const BatchParams& params, const Json& axes);
// The same without the dtype: "training with adam, 4 micro-batches, recomputing".
std::string memory_kind(const BatchParams& params, const Json& axes);

// A series of the sweep, with its largest measured point.
struct StudiedSeries {
  std::string label;
  const SweepPoint* first = nullptr;
  const SweepPoint* largest_point = nullptr;  // nullptr where none was measured
  const Point* largest = nullptr;
  SeriesCost
      cost;  // of its largest prepared point; where this run prepared none, of the dearest other series
};

// In the plan's order. Pointers into the study's plan and document.
std::vector<StudiedSeries> studied_series(const SweepStudy& study);

}  // namespace bench::sweeps
