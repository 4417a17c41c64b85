#include "bench/commands/advise.h"

#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/advise/observed.h"
#include "bench/advise/observed_advice.h"
#include "bench/cli/progress.h"
#include "bench/commands/stand_in.h"
#include "bench/measure/quote.h"
#include "bench/measure/suggest.h"

namespace bench {
namespace {

const std::vector<std::string>& advice_formats() {
  static const std::vector<std::string> names{"text", "markdown", "json"};
  return names;
}

Advice advice_asked_for(const Command& command, const CommandWords& words) {
  if (words.has_dashes() || !words.before().empty()) {
    throw UsageError(fmt::format("advise: {} is no option; accepted: bench advise {}",
                                 quote(words.before().empty() ? "--" : words.before().front()),
                                 command.usage));
  }
  const std::string* const path = words.text_of("observed");
  if (path == nullptr) {
    throw UsageError(fmt::format("advise: no readings are given; accepted: bench advise {}", command.usage));
  }
  const Observed observed = read_observed(*path, std::cin);
  return advice_from_readings(observed, plan_stand_in(observed));
}

ExitCode run_advise(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  const std::string* const format = words.text_of("format");
  if (format != nullptr && std::ranges::find(advice_formats(), *format) == advice_formats().end()) {
    throw UsageError(unknown_value("--format", *format, advice_formats()));
  }
  const Advice advice = advice_asked_for(command, words);
  constexpr int kNarrow = 80;
  constexpr int kWide = 100;
  const auto width = static_cast<std::size_t>(std::clamp(terminal_width(), kNarrow, kWide));
  if (format != nullptr && *format == "json") {
    std::cout << advice_json(advice).dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    std::cout << (format != nullptr && *format == "markdown" ? advice_markdown(advice)
                                                             : advice_text(advice, width));
  }
  return ExitCode::done;
}

}  // namespace

Command advise_command() {
  return {
      .name = "advise",
      .usage = "--observed FILE [options]",
      .brief = "--observed FILE",
      .question = "what limits my training, and which changes pay?",
      .options = {{"observed", "FILE", "your readings as JSON; - reads standard input"},
                  {"format", "NAME", "text, markdown or json (default: text)"}},
      .notes =
          {"Readings are times, memory and settings of a run, each with its unit in its key: step_ms, "
           "data_ms, memory_gib, host_memory_gib, batch, accumulate, workers, cards, … "
           "results/observed.schema.json describes all of them, results/observed/ has examples.",
           "A reading that is missing is asked for by name; readings that contradict each other are named.",
           "Exit codes: 0 done; 2 wrong usage, or readings that cannot be."},
      .examples = {"bench advise --observed results/observed/case-a.json",
                   "bench advise --observed - --format markdown < readings.json"},
      .run = run_advise};
}

}  // namespace bench
