// The command line as CLI11 takes it apart: which options there are, and the text given for each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

// The options of the program and of every registered sweep and workload. What their texts mean is for
// options.cpp to say.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Without the program's name and Google Benchmark's flags. Throws UsageError for what is no option, an
  // option given twice or without a value, and a value given to a switch; where the help or the version is
  // asked for, nothing is checked.
  void parse(const std::vector<std::string>& arguments);

  bool has(const std::string& option_switch) const;  // "dry-run"
  // As given, "yes" for a switch; nullptr where it was not.
  const std::string* text_of(const std::string& option) const;
  std::string help() const;
  static const char* usage();

  using NamesByOption = std::map<std::string, std::vector<std::string>>;
  const NamesByOption& workloads_of() const;  // which have the option
  const NamesByOption& sweeps_of() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace bench
