// Blocks on a multiprocessor: those that launches count with, and those that the driver finds room for.
#pragma once

#include <string>
#include <vector>

namespace bench::kernels::testing {

struct Occupancy {
  std::string kernel;
  int counted = 0;
  int found = 0;
};

// Of the kernels whose launches fill the current card.
std::vector<Occupancy> occupancies(int compute_capability);

}  // namespace bench::kernels::testing
