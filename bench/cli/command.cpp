#include "bench/cli/command.h"
#include "bench/text/lines.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "bench/text/suggest.h"

namespace bench {

CommandWords::CommandWords(const Command& command, const std::vector<std::string>& words)
    : command_(&command) {
  const std::string page = fmt::format("bench {} {}{}--help", command.name, command.form_words,
                                       command.form_words.empty() ? "" : " ");
  const Parsing parsing{.page = page};
  const auto dashes = std::ranges::find(words, "--");
  std::vector<std::string> own(words.begin(), dashes);
  has_dashes_ = dashes != words.end();
  before_ = given_options(command.options, own, parsing).others;
  const auto behind = has_dashes_ ? dashes + 1 : dashes;
  if (command.ends_at_dashes) {
    after_.assign(behind, words.end());
  } else if (std::find(behind, words.end(), "--") != words.end()) {
    throw UsageError(fmt::format("--: given twice; accepted: bench {} {}", command.name, command.usage));
  } else {
    own.insert(own.end(), behind, words.end());
  }
  given_ = given_options(command.options, own, parsing);
  if (!command.ends_at_dashes) {
    after_.assign(given_.others.begin() + static_cast<std::ptrdiff_t>(before_.size()), given_.others.end());
  }
}

std::vector<std::string> CommandWords::texts_of(const std::string& option) const {
  const auto given = given_.values.find(option);
  return given == given_.values.end() ? std::vector<std::string>{} : given->second;
}

std::string CommandWords::choice_of(const std::string& option) const {
  const auto of_command = std::ranges::find(command_->options, option, &Option::name);
  const std::vector<std::string> accepted = of_command->words();
  const std::string* const given = text_of(option);
  if (given != nullptr && option == "format" && *given == kOtherNameOfText && accepted.front() == kText) {
    return accepted.front();
  }
  if (given != nullptr && std::ranges::find(accepted, *given) == accepted.end()) {
    throw UsageError(unknown_value("--" + option, *given, accepted));
  }
  return given == nullptr ? accepted.front() : *given;
}

std::string help_of(const Command& command, std::size_t width) {
  constexpr std::size_t kColumn = 26;  // where an option's words begin
  std::string text = wrap(fmt::format("bench {}: {}", command.name, command.question), width, 2);
  text += wrap(fmt::format("Usage: bench {} {}", command.name, command.usage), width, 7);
  text += "\nOptions\n";
  for (const Option& option : command.options) {
    text += hanging("  " + left_of(option), help_of(option), kColumn, width);
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
