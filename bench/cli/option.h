// Options of the program, of sweeps and of commands: one table for the parser, the help, the manual page and
// the completion.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workload.h"

namespace bench {

struct Option {
  std::string name;   // "threshold"; the command line's --threshold
  std::string value;  // "SHARE"; empty: a switch
  std::string help;   // with its default; "{}" in it stands for the words
  // What may be given, or lists of it, where that is not for the user to find; asked when they are needed,
  // for some are registered.
  std::function<std::vector<std::string>()> words{};
  bool repeatable = false;
  char letter = 0;            // "-o FILE" means the same; 0: there is none
  bool takes_equals = false;  // its value stands behind "=" alone: an option of Google Benchmark
};

// What --format calls a page for a terminal, and what some commands called it once: accepted everywhere.
inline constexpr std::string_view kText = "text";
inline constexpr std::string_view kOtherNameOfText = "table";

// --format, "text", "markdown", "csv" and "json" and more words behind them.
Option format_option(const std::vector<std::string>& more = {});

// Throws UsageError for another format than text, where `option` prints that alone: "--help".
void refuse_format(std::string_view format, std::string_view option);

// For Option::words.
std::function<std::vector<std::string>()> these(std::vector<std::string> words);

// Placeholder of an option's value in a listing: the accepted words, "stream|graph"; else by its default:
// N for a number, SIZE for 1MiB, LIST for values separated by commas, VALUE for another word.
std::string value_name(const CommandOption& option);

// Of a sweep, a workload or a reader, with its default in the help.
Option option_of(const CommandOption& option);

// "-o, --out FILE", and what it means: two columns of a help.
std::string left_of(const Option& option);
std::string help_of(const Option& option);

// What a command line gives (CLI11 takes it apart).
struct GivenOptions {
  std::map<std::string, std::vector<std::string>> values;  // by option; "yes" of a switch
  std::vector<std::string> others;                         // words that are no options, in their order

  // The last value; nullptr if the option was not given.
  const std::string* text_of(const std::string& option) const;
};

struct Parsing {
  std::string page = "bench --help";  // that names the options
  std::string_view may_lack_value{};  // an option that is a switch without a value
  bool refuses_misuse = true;
};

// Throws UsageError for an option that is none of these and, where it refuses misuse, for one given twice or
// without its value and a switch with a value.
GivenOptions given_options(const std::vector<Option>& options, const std::vector<std::string>& words,
                           const Parsing& parsing);

}  // namespace bench
