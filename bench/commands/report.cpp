#include "bench/commands/report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/advise/advice.h"
#include "bench/cli/csv.h"
#include "bench/cli/terminal.h"
#include "bench/report/json.h"
#include "bench/report/report_page.h"
#include "bench/report/stored_answer.h"
#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "bench/run/result_folder.h"
#include "bench/run/whole_file.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "-";

std::string page_format(const CommandWords& words, const std::string& target) {
  if (words.has("format")) {
    return words.choice_of("format");
  }
  const std::string ending = fs::path(target).extension();
  return ending == ".md" || ending == ".markdown" ? "markdown" : "html";
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

void check_files(const std::vector<std::string>& paths, const std::string& target,
                 const std::string& format) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (is_same_file(paths[i], target)) {
      throw UsageError(fmt::format("-o: {} is one of the results; give another file", path_in_words(target)));
    }
    const auto end = paths.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::any_of(paths.begin(), end,
                    [&](const std::string& path) { return is_same_file(path, paths[i]); })) {
      throw UsageError(fmt::format("{} is given twice; give each result once", path_in_words(paths[i])));
    }
  }
  constexpr std::array<const char*, 6> kOthers{".json", ".csv", ".pdf", ".png", ".svg", ".docx"};
  const std::string ending = fs::path(target).extension();
  if (target.empty() || (ending != "." + format && std::ranges::count(kOthers, ending) > 0)) {
    throw UsageError(fmt::format("-o: {} names no page; give a name that ends in .html or .md",
                                 target.empty() ? "''" : path_in_words(target)));
  }
}

std::string in_format(const std::string& format, const report::Report& page,
                      const std::vector<report::ReportedResult>& results,
                      const std::vector<std::string>& paths) {
  if (format == "html") {
    return report::report_html(page, results);
  }
  if (format == "json") {
    return to_indented_text(report::report_json(page));
  }
  if (format == "csv") {
    for (const report::StoredAnswer& stored : page.stored) {
      std::cerr << notice(
          STDERR_FILENO,
          fmt::format("{} has no points: it is left out of the CSV; --format json and pages have it.",
                      stored.file));
    }
    std::vector<ResultOfFile> files;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      files.push_back({path_in_words(paths[i]), &results[i].document});
    }
    return results_csv(files);
  }
  return report::report_markdown(page);
}

// The median half width of the intervals at these points; none where one was not measured.
std::optional<double> typical_half_width(const ResultDocument& document,
                                         const std::set<std::string>& points) {
  std::vector<double> widths;
  for (const Point& point : measured_points(document)) {
    if (points.contains(point.name)) {
      widths.push_back(point.stats.half_width());
    }
  }
  return widths.empty() || widths.size() < points.size() ? std::nullopt : std::optional(median(widths));
}

// Of runs of one question the one with the narrowest intervals at the points of the latest.
std::string better_measured(const std::string& path, const std::vector<std::string>& earlier) {
  const auto read = [](const std::string& file) -> std::optional<ResultDocument> {
    try {
      const Json json = read_json(file);
      return report::is_stored_answer(json) ? std::nullopt : std::optional(document_of(json, file));
    } catch (const UsageError&) {  // named when it is the one to show
      return std::nullopt;
    }
  };
  const std::optional<ResultDocument> latest = read(path);
  if (!latest) {
    return path;
  }
  std::set<std::string> points;
  for (const Point& point : measured_points(*latest)) {
    points.insert(point.name);
  }
  std::string best = path;
  double narrowest = typical_half_width(*latest, points).value_or(0);
  for (const std::string& file : earlier) {
    const std::optional<ResultDocument> run = read(file);
    const bool is_same = run && run->context.machine == latest->context.machine &&
                         run->sweep.workload == latest->sweep.workload &&
                         run->sweep.mode == latest->sweep.mode;
    if (const auto width = is_same ? typical_half_width(*run, points) : std::nullopt;
        width && *width < narrowest) {
      narrowest = *width;
      best = file;
    }
  }
  return best;
}

ExitCode run_report(const Command& command, const std::vector<std::string>& given) {
  const CommandWords words(command, given);
  const std::string* const out = words.text_of("out");
  const std::string target = out == nullptr ? std::string(kStandardOutput) : *out;
  const std::string format = page_format(words, target);
  if (words.before().empty() || words.has_dashes()) {
    throw UsageError(fmt::format("report: {}; give bench report {}",
                                 words.has_dashes() ? "-- has no place here" : "no result is given",
                                 command.usage));
  }
  if (out == nullptr && format == "html" && ::isatty(STDOUT_FILENO) == 1) {
    throw UsageError(
        "-o: no file is given, and a terminal shows no HTML; give -o report.html or --format markdown");
  }
  std::vector<std::string> schemas = report::stored_answer_schemas();
  schemas.emplace_back("bench-result");
  const ChosenFiles chosen = files_of(words.before(), schemas, better_measured);
  check_files(chosen.paths, target, format);
  std::optional<TrainingSettings> current;
  if (const std::string* const settings = words.text_of("current")) {
    current = parse_settings("--current", *settings);
  }
  std::vector<report::ReportedResult> results;
  std::vector<std::string> paths;
  std::vector<report::StoredAnswer> stored;
  for (const std::string& path : chosen.paths) {
    Json json = read_json(path);
    if (report::is_stored_answer(json)) {
      stored.push_back(report::stored_answer_of(json, path_in_words(path)));
      continue;
    }
    ResultDocument document = document_of(json, path);
    results.push_back({.json = std::move(json), .document = std::move(document)});
    paths.push_back(path);
  }
  const report::Report page = report::report_of(results, current, std::move(stored));
  const std::string text = in_format(format, page, results, paths);
  for (const std::string& sentence : chosen.left_out) {
    std::cerr << notice(STDERR_FILENO, sentence);
  }
  if (target == kStandardOutput) {
    std::cout << text;
    return ExitCode::done;
  }
  std::error_code error;
  const bool replaces = fs::is_regular_file(target, error);
  replace_file(target, text);
  std::cout << file_line(STDOUT_FILENO, "report", target, replaces ? kReplaced : "");
  return ExitCode::done;
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .usage = "[options] RESULT.json… -o FILE",
      .brief = "RESULT… -o FILE",
      .question = "results as one page: answers, pictures, tables, environment",
      .options = {{.name = "out",
                   .value = "FILE",
                   .help = "the page, replaced as a whole; - or none: standard output",
                   .letter = 'o'},
                  {.name = "current",
                   .value = "LIST",
                   .help = "how you train, for the advice: batch=16,workers=0,… as in bench advise"},
                  {.name = "format",
                   .value = "NAME",
                   .help = "{} (default: html; markdown where FILE ends in .md)",
                   .words = these({"html", "markdown", "csv", "json"})}},
      .notes =
          {"RESULT.json is a result of any sweep, measured or predicted, or what bench evaluate, compare or "
           "advise wrote with --format json. The HTML file loads nothing, runs no script, and holds the "
           "results to download: at most 300 kB for five of them.",
           "Exit codes: 0 done; 2 wrong usage, or a result that cannot be read."},
      .examples = {"bench report results/local/*.json -o report.html",
                   "bench report batch-resnet50-cpu.json --format markdown >> \"$GITHUB_STEP_SUMMARY\""},
      .run = run_report};
}

}  // namespace bench
