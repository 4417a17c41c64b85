// A workload's options, each with its type. An option declares itself to the command line and reads its value
// from a point's spec; where the spec does not name it, it has its default.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/workload.h"

namespace bench::kernels {

// A decimal whole number and nothing else; nullopt for anything more or less.
std::optional<std::int64_t> whole_number(std::string_view text);

// The text that the spec has for an option, or the default.
std::string option_text(const WorkloadSpec& spec, const std::string& name, std::string_view default_value);

// A whole number within a range.
struct WholeOption {
  std::string name;  // "columns"; the command line's --columns
  std::int64_t default_value = 1;
  std::int64_t smallest = 1;
  std::int64_t largest = 1;
  std::string help;    // without the range
  std::string mode{};  // the only mode that knows it; empty: every mode

  CommandOption declared() const;
  // Throws UsageError naming the option, what was given and the accepted range.
  std::int64_t read(const WorkloadSpec& spec) const;
};

// A size in bytes, from 1 B.
struct BytesOption {
  std::string name;
  std::string default_value;  // "1MiB"
  std::int64_t largest = 0;
  std::string help;  // without the limit

  CommandOption declared() const;
  // Throws UsageError naming the option, what was given and what is accepted.
  std::int64_t read(const WorkloadSpec& spec) const;
};

// Where `text` is among the words. Throws UsageError naming the option, what was given and the words.
std::size_t word_index(const std::string& option, const std::string& text,
                       const std::vector<std::string>& words);

// One of several words, each with its value.
template <class Value>
struct WordOption {
  std::string name;
  std::string default_value;
  std::vector<std::pair<std::string, Value>> words;
  std::string help;
  std::string mode{};

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    all.reserve(words.size());
    for (const auto& [word, value] : words) {
      all.push_back(word);
    }
    return all;
  }
  CommandOption declared() const {
    return {
        .name = name, .default_value = default_value, .help = help, .mode = mode, .words = [all = names()] {
          return all;
        }};
  }
  // Throws UsageError naming the option, what was given and the words.
  Value read(const WorkloadSpec& spec) const {
    return words.at(word_index(name, option_text(spec, name, default_value), names())).second;
  }
};

// A switch that is given as yes or no.
WordOption<bool> yes_or_no(std::string name, std::string default_value, std::string help,
                           std::string mode = "");

// All of a workload's options as the command line has them.
template <class... Options>
std::vector<CommandOption> declare(const Options&... options) {
  return {options.declared()...};
}

}  // namespace bench::kernels
