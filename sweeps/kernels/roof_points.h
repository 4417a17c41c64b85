// Which points are to set the roofline, and which of them a short time budget left out.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// Of each kind the largest that was planned: cold triad and copy, and each dtype's multiply-adds and matrix
// product. The plan measures them first (SweepPoint::first).
struct RoofPoints {
  std::vector<std::string> measured{};
  std::vector<std::string> skipped{};  // no time
};

RoofPoints roof_points(const ResultDocument& document);

}  // namespace bench::sweeps
