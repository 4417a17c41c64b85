// The commands there are. A command is a file of this folder, and a line here.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/command.h"
#include "bench/cli/command_line.h"
#include "bench/cli/terminal.h"
#include "bench/commands/ab.h"
#include "bench/commands/advise.h"
#include "bench/commands/compare.h"
#include "bench/commands/evaluate.h"
#include "bench/commands/inspect.h"
#include "bench/commands/predict.h"
#include "bench/commands/report.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"

namespace bench {
namespace {

// What to type in place of a single word that names a sweep, a workload, its file or an option; empty where
// it names none.
std::string meant_by(const std::string& word) {
  if (registry<SweepType>().find(word) != nullptr) {
    return fmt::format("a sweep: type bench --sweep {}", word);
  }
  if (registry<WorkloadType>().find(word) != nullptr) {
    return fmt::format("a workload: type bench --sweep batch --workload {}", word);
  }
  for (const auto& reader : registry<WorkloadReader>().entries()) {
    if (word.ends_with("." + reader->name)) {
      return fmt::format("a file: type bench --sweep batch --{} {}", reader->name, printable(word));
    }
  }
  if (word == "gpus") {
    return "an option: type bench --list --gpus";
  }
  const auto option = std::ranges::find(program_options(), word, &Option::name);
  if (option != program_options().end()) {
    return fmt::format("an option: type bench --{}{}{}", word, option->value.empty() ? "" : " ",
                       option->value);
  }
  return "";
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all{compare_command(), ab_command(),       advise_command(),
                                        predict_command(), evaluate_command(), report_command(),
                                        inspect_command()};
  return all;
}

ExitCode run_command(const std::string& name, const std::vector<std::string>& words) {
  const auto command = std::ranges::find(commands(), name, &Command::name);
  if (command == commands().end()) {
    std::vector<std::string> names;
    for (const Command& one : commands()) {
      names.push_back(one.name);
    }
    if (const std::string meant = meant_by(name); !meant.empty()) {
      throw UsageError(fmt::format("{} is {}", quote(name), meant));
    }
    const auto meant = nearest(name, names);
    throw UsageError(fmt::format(
        "{} is not a command{}; accepted: {}, or options, which start with -- (bench --help)", quote(name),
        meant ? fmt::format(" (did you mean {}?)", *meant) : "", fmt::join(names, ", ")));
  }
  const Command* const form = command->form == nullptr ? nullptr : command->form(words);
  const Command& asked = form == nullptr ? *command : *form;
  const auto own_end = asked.ends_at_dashes ? std::ranges::find(words, "--") : words.end();
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(words.begin(), own_end, asks)) {
    for (auto word = words.begin(); word != own_end; ++word) {
      constexpr std::string_view kOption = "--format";
      const bool is_next = *word == kOption && word + 1 != own_end;
      refuse_format(is_next                                         ? *(word + 1)
                    : word->starts_with(std::string(kOption) + "=") ? word->substr(kOption.size() + 1)
                                                                    : "",
                    "--help");
    }
    constexpr std::size_t kWidest = 100;
    fmt::print("{}", help_of(asked, std::min(terminal_width(STDOUT_FILENO), kWidest)));
    return ExitCode::done;
  }
  return asked.run(asked, words);
}

}  // namespace bench
