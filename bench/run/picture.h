// Draws a result file with its sweep's gnuplot script.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

struct Picture {
  std::vector<std::filesystem::path> files;  // what was drawn, PNG first
  std::string problem;                       // why nothing was; empty otherwise
};

// Runs the program's own plots/<sweep>.gp over `result`, from a folder that is removed afterwards; the
// pictures take the result's name with other endings. Never throws for a missing gnuplot: the numbers are
// safe in the result file already.
Picture draw(const std::string& sweep, const std::filesystem::path& result);

}  // namespace bench
