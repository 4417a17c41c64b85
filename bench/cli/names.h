// What is registered, by name.
#pragma once

#include <string>
#include <vector>

#include "bench/registry.h"

namespace bench {

template <class Entry>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : registry<Entry>().entries()) {
    names.push_back(entry->name);
  }
  return names;
}

}  // namespace bench
