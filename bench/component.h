// Libraries that the program stands on, as `bench --version` lists them.
#pragma once

#include <functional>
#include <string>

#include "bench/registry.h"

namespace bench {

struct Component {
  std::string name;                       // "oneDNN"
  std::function<std::string()> describe;  // its version and place, or why there is none; within milliseconds
};

}  // namespace bench
