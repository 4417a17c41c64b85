// The series of the memory sweep, as what is tried after its points needs them.
#pragma once

#include <string>
#include <vector>

#include "bench/sweep.h"

namespace bench::sweeps {

struct StudiedSeries {
  std::string label;
  const SweepPoint* first = nullptr;
  const MeasuredPoint* largest = nullptr;  // measured; nullptr where none was
  const SweepPoint* largest_point = nullptr;
};

// In the plan's order. Pointers into the study's plan and document, which must not change meanwhile but for
// document.sweep.
std::vector<StudiedSeries> studied_series(const SweepStudy& study);

}  // namespace bench::sweeps
