// Names of the registered entries.
#pragma once

#include <map>
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

// For each option, the names of the entries that have it: sweeps share some, networks most.
template <class Entry>
std::map<std::string, std::vector<std::string>> takers_by_option() {
  std::map<std::string, std::vector<std::string>> takers;
  for (const auto& entry : registry<Entry>().entries()) {
    for (const auto& option : entry->options) {
      takers[option.name].push_back(entry->name);
    }
  }
  return takers;
}

}  // namespace bench
