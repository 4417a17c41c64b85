// Differences between the sides in addition to the measurements: driver, libraries, build, clocks, work.
#pragma once

#include <string>
#include <vector>

#include "bench/compare/matching.h"

namespace bench {

struct Difference {
  std::string what;  // "driver", "kernels of conv1"
  std::string base;  // printable; several values of one side are separated by commas
  std::string next;
  bool is_detail = false;  // names of algorithms: in words only where everything is asked for
};

// What matters most comes first: device, params, libraries and options, clocks, algorithms, work, machine,
// build.
std::vector<Difference> differences_of(const Matching& matching);

// Whether the software that the device's kernels pass through is the same on both sides.
bool same_driver(const Suite& suite);

}  // namespace bench
