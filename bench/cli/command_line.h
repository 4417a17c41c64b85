// The options there are, and the text that the command line gives for each (CLI11 takes it apart).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bench {

// An option that every sweep takes, or the program alone.
struct ProgramOption {
  std::string name;   // "time-budget"
  std::string value;  // "TIME"; empty: a switch
  std::string help;   // with its default
};

const std::vector<ProgramOption>& program_options();

class CommandLine {
 public:
  // `arguments` without the program's name and Google Benchmark's flags. Throws UsageError for an unknown
  // option and, without --help or --version, for one given twice or without its value and a switch with a
  // value.
  explicit CommandLine(const std::vector<std::string>& arguments);

  bool has(const std::string& option) const { return text_of(option) != nullptr; }
  // The value as given, "yes" for a switch; nullptr if the option was not given.
  const std::string* text_of(const std::string& option) const;

 private:
  std::map<std::string, std::string> given_;
};

}  // namespace bench
