#include "bench/commands/compare.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/terminal.h"
#include "bench/compare/formats.h"
#include "bench/compare/matching.h"
#include "bench/compare/run.h"
#include "bench/run/history.h"
#include "bench/run/result_folder.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// "5%", "time=5%,driver=10%".
void read_thresholds(const std::string& text, std::map<Metric, double>& thresholds) {
  std::vector<std::string> names;
  for (const Metric metric : kMetrics) {
    names.emplace_back(name_of(metric));
  }
  std::set<Metric> given;
  for (const std::string& part : parts_of(text)) {
    const std::size_t equals = part.find('=');
    const std::string name = equals == std::string::npos ? "time" : part.substr(0, equals);
    const auto metric = std::ranges::find(names, name);
    if (metric == names.end()) {
      throw UsageError(unknown_value("--threshold", name, names));
    }
    const double share =
        parse_share("--threshold", equals == std::string::npos ? part : part.substr(equals + 1));
    const Metric of = kMetrics.at(static_cast<std::size_t>(metric - names.begin()));
    if (!given.insert(of).second) {
      throw UsageError(fmt::format("--threshold: {} is given twice; give each metric once", name));
    }
    if (share == 0 && is_tested(of)) {
      throw UsageError(fmt::format(
          "--threshold: 0 of {} would make every change a regression; give more, such as 1%", name));
    }
    thresholds[of] = share;
  }
}

struct Sides {
  std::vector<std::string> base;
  std::vector<std::string> next;
};

// "BASE… -- NEW…", or two files alone, as diff takes them.
Sides sides_of(const Command& command, const CommandWords& words) {
  Sides sides{.base = words.before(), .next = words.after()};
  if (!words.has_dashes() && sides.base.size() == 2) {
    sides.next.push_back(std::move(sides.base.back()));
    sides.base.pop_back();
  }
  for (const auto& [files, side] : {std::pair{&sides.base, "BASE"}, std::pair{&sides.next, "NEW"}}) {
    if (files->empty()) {
      throw UsageError(
          fmt::format("{}: a result file is missing; give bench {} {}", side, command.name, command.usage));
    }
  }
  return sides;
}

ExitCode run_compare(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  const CompareSettings settings = compare_settings(words);
  const AllowedDifferences allowed = allowed_differences(words);
  check_format(words);
  const Sides sides = sides_of(command, words);
  std::vector<std::string> paths = result_paths(sides.base);
  const std::size_t before = paths.size();
  std::ranges::copy(result_paths(sides.next), std::back_inserter(paths));
  std::vector<ComparedRun> base = read_runs(paths);
  std::vector<ComparedRun> next(std::make_move_iterator(base.begin() + static_cast<std::ptrdiff_t>(before)),
                                std::make_move_iterator(base.end()));
  base.resize(before);
  const Matching matching = match_runs(std::move(base), std::move(next), allowed);
  const Judgement judgement = judge(matching, settings, history_of(matching));
  std::cout << written(judgement, words);
  return judgement.code;
}

}  // namespace

AllowedDifferences allowed_differences(const CommandWords& words) {
  AllowedDifferences allowed;
  const std::string* const text = words.text_of("allow-different");
  for (const std::string& part : text == nullptr ? std::vector<std::string>{} : parts_of(*text)) {
    if (part != "device" && part != "params") {
      throw UsageError(unknown_value("--allow-different", part, {"device", "params"}));
    }
    (part == "device" ? allowed.device : allowed.params) = true;
  }
  return allowed;
}

Option allow_different_option() {
  return {.name = "allow-different",
          .value = "WHAT",
          .help = "device, params or both: compare them all the same",
          .words = these({"device", "params"})};
}

std::vector<Option> judging_options() {
  return {{"threshold", "SHARE",
           "smallest change that counts: 5%, or by metric time=5%,stall=5%,planned=0%,tracked=0%,"
           "driver=10% (default: 3%; bytes 0%, the driver's 5%)"},
          {"alpha", "SHARE", "risk of one false statement in the whole comparison (default: 1%)"},
          {"allow-inconclusive", "", "exit 0, with a warning, where noise hides the answer"},
          format_option({"junit", "github"}),
          {"verbose", "", "every point, not five"}};
}

CompareSettings compare_settings(const CommandWords& words) {
  CompareSettings settings;
  if (const std::string* const text = words.text_of("alpha")) {
    settings.alpha = parse_share("--alpha", *text);
    constexpr double kMost = 0.5;
    if (settings.alpha <= 0 || settings.alpha > kMost) {
      throw UsageError(
          fmt::format("--alpha: {} is not accepted; give a share above 0 and up to 50%", quote(*text)));
    }
  }
  if (const std::string* const text = words.text_of("threshold")) {
    read_thresholds(*text, settings.thresholds);
  }
  settings.allow_inconclusive = words.has("allow-inconclusive");
  return settings;
}

std::vector<PastRun> history_of(const Matching& matching) {
  const std::optional<std::filesystem::path> file = history_file();
  std::set<std::string> machines;
  std::set<std::string> compared;
  for (const Suite& suite : matching.suites) {
    if (suite.runs.base.size() == 1 && suite.runs.next.size() == 1) {
      machines.insert(suite.runs.next.front()->context.machine);
    }
  }
  for (const Side side : kSides) {
    for (const ComparedRun& run : matching.runs[side]) {
      for (const Session& session : run.sessions) {
        compared.insert(session.id);
      }
    }
  }
  machines.erase("");
  std::vector<PastRun> history;
  for (const std::string& machine : file ? machines : std::set<std::string>{}) {
    HistoryFile known(*file);
    for (PastRun& run : known.runs(machine)) {
      if (!compared.contains(run.id)) {
        history.push_back(std::move(run));
      }
    }
    if (!known.problem().empty()) {
      std::cerr << notice(STDERR_FILENO, "bench: " + known.problem());
    }
  }
  return history;
}

void check_format(const CommandWords& words) {
  words.choice_of("format");
}

std::string written(const Judgement& judgement, const CommandWords& words) {
  const std::string format = words.choice_of("format");
  const bool verbose = words.has("verbose");
  if (format == kText) {
    return as_table(judgement, terminal_width(STDOUT_FILENO), verbose);
  }
  return format == "markdown" ? as_markdown(judgement, verbose)
         : format == "junit"  ? as_junit(judgement)
         : format == "github" ? as_github(judgement, verbose)
         : format == "csv"    ? as_csv(judgement)
                              : as_json(judgement);
}

Command compare_command() {
  std::vector<Option> options = judging_options();
  options.insert(options.begin() + 2, allow_different_option());
  return {
      .name = "compare",
      .usage = "[options] BASE.json… -- NEW.json…",
      .brief = "BASE… -- NEW…",
      .question = "is NEW slower or hungrier than BASE?",
      .options = std::move(options),
      .notes =
          {"Give three or more runs a side, of the same command; a point's noise is told by how runs differ.",
           "BASE and NEW may be folders; one of each needs no --. Where several machines measured both, each "
           "is compared with itself.",
           "Exit codes, the first that applies: 2 unreadable; 4 other device or params; 1 a point is slower, "
           "hungrier, missing, newly failing or newly out of memory, or all together are slower; 3 "
           "inconclusive; 0."},
      .examples = {"bench compare base/*.json -- new/*.json",
                   "bench compare --format markdown base/*.json -- new/*.json >> \"$GITHUB_STEP_SUMMARY\""},
      .run = run_compare};
}

}  // namespace bench
