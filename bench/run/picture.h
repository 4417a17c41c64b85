// Draws a picture next to a result, by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plots/chart.h"

namespace bench {

struct DrawnPicture {
  std::vector<std::filesystem::path> files;  // what was drawn, PNG first
  std::string problem;                       // why nothing was; empty otherwise
  std::string said;                          // by gnuplot; empty where all is well
};

// In a folder that is removed afterwards; the files take the result's name with other endings. Never throws
// for a missing gnuplot: the numbers are safe in the result file already.
DrawnPicture draw(const plots::Picture& picture, const std::filesystem::path& result);

}  // namespace bench
