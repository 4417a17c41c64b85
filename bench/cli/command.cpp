#include "bench/cli/command.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "bench/cli/text.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"

namespace bench {
namespace {

const CommandArgument& option_named(const Command& command, const std::string& name) {
  const auto found = std::ranges::find(command.options, name, &CommandArgument::name);
  if (found != command.options.end()) {
    return *found;
  }
  std::vector<std::string> names{"--help"};
  for (const CommandArgument& option : command.options) {
    names.push_back("--" + option.name);
  }
  const auto meant = nearest("--" + name, names);
  throw UsageError(fmt::format("--{}: bench {} has no such option{}; see bench {} --help", printable(name),
                               command.name, meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                               command.name));
}

// The option with this letter, as in "-o"; nullptr if no option has it.
const CommandArgument* option_of_letter(const Command& command, const std::string& word) {
  const auto found = std::ranges::find_if(command.options, [&](const CommandArgument& option) {
    return option.letter != 0 && word == std::string{'-', option.letter};
  });
  return found == command.options.end() ? nullptr : &*found;
}

}  // namespace

CommandWords::CommandWords(const Command& command, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (has_dashes_ && command.ends_at_dashes) {
      after_.push_back(word);
      continue;
    }
    if (word == "--") {
      if (has_dashes_) {
        throw UsageError(fmt::format("--: given twice; accepted: bench {} {}", command.name, command.usage));
      }
      has_dashes_ = true;
      continue;
    }
    if (const CommandArgument* const option = option_of_letter(command, word)) {
      if (i + 1 == words.size() || (words[i + 1].starts_with('-') && words[i + 1] != "-")) {
        throw UsageError(fmt::format("{}: a value is missing; see bench {} --help", word, command.name));
      }
      add_value(*option, words[++i]);
      continue;
    }
    if (!word.starts_with("--")) {
      (has_dashes_ ? after_ : before_).push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    const CommandArgument& option = option_named(command, name);
    if (option.value.empty()) {
      if (equals != std::string::npos) {
        throw UsageError(
            fmt::format("--{}: {} was given, but it takes no value; give --{} alone, or leave it out", name,
                        quote(word.substr(equals + 1)), name));
      }
      add_value(option, "yes");
      continue;
    }
    const bool next_is_value =
        equals == std::string::npos && i + 1 < words.size() && !words[i + 1].starts_with("--");
    const std::string value = equals != std::string::npos ? word.substr(equals + 1)
                              : next_is_value             ? words[++i]
                                                          : std::string();
    if (value.empty()) {
      throw UsageError(fmt::format("--{}: a value is missing; see bench {} --help", name, command.name));
    }
    add_value(option, value);
  }
}

void CommandWords::add_value(const CommandArgument& option, const std::string& value) {
  std::vector<std::string>& values = given_[option.name];
  if (!values.empty() && !option.repeatable) {
    throw UsageError(fmt::format("--{}: given twice; give it once", option.name));
  }
  values.push_back(value);
}

const std::string* CommandWords::text_of(const std::string& option) const {
  const auto given = given_.find(option);
  return given == given_.end() ? nullptr : &given->second.back();
}

std::vector<std::string> CommandWords::texts_of(const std::string& option) const {
  const auto given = given_.find(option);
  return given == given_.end() ? std::vector<std::string>{} : given->second;
}

std::string help_of(const Command& command, std::size_t width) {
  constexpr std::size_t kColumn = 26;  // where an option's words begin
  std::string text = wrap(fmt::format("bench {}: {}", command.name, command.question), width, 2);
  text += wrap(fmt::format("Usage: bench {} {}", command.name, command.usage), width, 7);
  text += "\nOptions\n";
  for (const CommandArgument& option : command.options) {
    const std::string left =
        fmt::format("  {}--{}{}{}", option.letter == 0 ? "" : fmt::format("-{}, ", option.letter),
                    option.name, option.value.empty() ? "" : " ", option.value);
    text += hanging(left, option.help, kColumn, width);
  }
  text += command.notes.empty() ? "" : "\n";
  for (const std::string& note : command.notes) {
    text += wrap(note, width, 2);
  }
  text += command.examples.empty() ? "" : "\nExamples\n";
  for (const std::string& example : command.examples) {
    text += "  " + wrap(example, width - 2, 4);
  }
  return text;
}

}  // namespace bench
