// The command line as a test writes it.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/options.h"

namespace bench::testing {

inline Options parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv{"bench"};
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  argv.push_back(nullptr);
  return parse_options(static_cast<int>(argv.size()) - 1, argv.data());
}

}  // namespace bench::testing
