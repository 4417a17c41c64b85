// The commands there are. A command is a file of this folder, and a line here.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/command.h"
#include "bench/cli/terminal.h"
#include "bench/commands/ab.h"
#include "bench/commands/advise.h"
#include "bench/commands/compare.h"
#include "bench/commands/evaluate.h"
#include "bench/commands/inspect.h"
#include "bench/commands/predict.h"
#include "bench/commands/report.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"
#include "bench/registry.h"
#include "bench/sweep.h"

namespace bench {

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
    if (registry<SweepType>().find(name) != nullptr) {
      throw UsageError(fmt::format("{} is a sweep: type bench --sweep {}", quote(name), name));
    }
    const auto meant = nearest(name, names);
    throw UsageError(fmt::format(
        "{} is not a command; accepted: {}, or options, which start with -- (bench --help){}", quote(name),
        fmt::join(names, ", "), meant ? fmt::format(" (did you mean {}?)", *meant) : ""));
  }
  const auto own_end = command->ends_at_dashes ? std::ranges::find(words, "--") : words.end();
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(words.begin(), own_end, asks)) {
    constexpr std::size_t kWidest = 100;
    fmt::print("{}", help_of(*command, std::min(terminal_width(STDOUT_FILENO), kWidest)));
    return ExitCode::done;
  }
  return command->run(*command, words);
}

}  // namespace bench
