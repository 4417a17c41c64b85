// The options of a command line that names no command: those of the program, of sweeps, workloads and
// readers.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/option.h"
#include "bench/registry.h"

namespace bench {

// Of all sweeps, workloads or readers, in the order that a help shows them.
template <class Entry>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : registry<Entry>().entries()) {
    names.push_back(entry->name);
  }
  return names;
}

// That every sweep takes, or the program alone.
const std::vector<Option>& program_options();

class CommandLine {
 public:
  // `arguments` without the program's name and Google Benchmark's flags. Throws UsageError for an unknown
  // option and, without --help or --version, for one given twice or without its value and a switch with a
  // value.
  explicit CommandLine(const std::vector<std::string>& arguments);

  bool has(const std::string& option) const { return text_of(option) != nullptr; }
  // The value as given, "yes" for a switch; nullptr if the option was not given.
  const std::string* text_of(const std::string& option) const { return given_.text_of(option); }

 private:
  GivenOptions given_;
};

}  // namespace bench
