// Commands other than a sweep ("bench compare …"): what there are, their help, and their arguments.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/option.h"
#include "bench/error.h"

namespace bench {

struct Command {
  std::string name;                   // "compare"
  std::string usage;                  // what follows the name: "[options] BASE.json… -- NEW.json…"
  std::string brief;                  // the same for bench --help: "BASE… -- NEW…"
  std::string question;               // one line, for bench --help
  std::vector<Option> options;        // without --help
  std::vector<std::string> notes;     // paragraphs below the options
  std::vector<std::string> examples;  // whole command lines
  // The words after `--` are another program's: none of them is an option of this command.
  bool ends_at_dashes = false;
  ExitCode (*run)(const Command& command, const std::vector<std::string>& words) = nullptr;
  // Another form of the command, with options and a help of its own, where the words ask for it; else
  // nullptr.
  const Command* (*form)(const std::vector<std::string>& words) = nullptr;
  std::string form_words{};  // of a form: such words as ask for it, "--workload llama3.1_8b"
};

// In the order of the help.
const std::vector<Command>& commands();

// `words`: those after the command's name. Prints the command's help where --help is among them. Throws
// UsageError for a name that is no command.
ExitCode run_command(const std::string& name, const std::vector<std::string>& words);

// A page of at most `width` columns.
std::string help_of(const Command& command, std::size_t width);

// A command's words, sorted into options and others.
class CommandWords {
 public:
  // Throws UsageError for an option that the command does not have, one given twice or without its value, and
  // a switch with a value.
  CommandWords(const Command& command, const std::vector<std::string>& words);

  bool has(const std::string& option) const { return text_of(option) != nullptr; }
  // The value as given; nullptr if the option was not given.
  const std::string* text_of(const std::string& option) const { return given_.text_of(option); }
  // Every value of a repeatable option.
  std::vector<std::string> texts_of(const std::string& option) const;
  // Of an option whose words are all that it accepts: the one given, else the first. Throws UsageError for
  // another.
  std::string choice_of(const std::string& option) const;
  // Words that are no options, before and after `--`.
  const std::vector<std::string>& before() const { return before_; }
  const std::vector<std::string>& after() const { return after_; }
  bool has_dashes() const { return has_dashes_; }

 private:
  const Command* command_;
  GivenOptions given_;
  std::vector<std::string> before_;
  std::vector<std::string> after_;
  bool has_dashes_ = false;
};

}  // namespace bench
