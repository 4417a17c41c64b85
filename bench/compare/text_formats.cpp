// The table for a terminal, and Markdown.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/text.h"
#include "bench/compare/formats.h"
#include "bench/compare/wording.h"
#include "bench/measure/units.h"
#include "bench/page/columns.h"
#include "bench/page/escape.h"

namespace bench {
namespace {

using Row = std::vector<std::string>;

// Points that a reader may want to see: all, or the first that are not the same.
std::size_t rows_of(const Judgement& judgement, bool verbose) {
  return verbose ? judgement.points.size() : std::min(kRows, judgement.points.size());
}

std::string rate(const JudgedPoint& point, double step_ns) {
  return step_ns > 0 && point.items_per_step > 0 ? format_number(point.items_per_step * 1e9 / step_ns) : "-";
}

constexpr std::size_t kMachinesColumn = 4;

bool has_machines(const Judgement& judgement) {
  return std::ranges::any_of(judgement.suites,
                             [](const JudgedSuite& suite) { return !suite.machines.empty(); });
}

// Without the column of the machines where none is compared by itself.
template <class T>
std::vector<T> columns_of(const Judgement& judgement, std::vector<T> all) {
  if (!has_machines(judgement)) {
    all.erase(all.begin() + kMachinesColumn);
  }
  return all;
}

Row header(const Judgement& judgement) {
  return columns_of<std::string>(
      judgement, {"verdict", "point", "of", "change", "machines", "base", "new", "samples/s"});
}

Row row_of(const Judgement& judgement, const JudgedPoint& point, const std::string& name,
           const MetricChange* change) {
  Row row{std::string(name_of(point.verdict)), name, "", "", "", "", "", ""};
  if (change != nullptr) {
    row[2] = name_of(change->metric);
    row[3] = change_in_words(*change);
    row[kMachinesColumn] = machines_in_words(*change);
    row[5] = value_in_words(change->metric, change->base);
    row[6] = value_in_words(change->metric, change->next);
    if (const MetricChange* const time = point.change(Metric::time)) {
      row[7] = fmt::format("{} → {}", rate(point, time->base), rate(point, time->next));
    }
  }
  return columns_of(judgement, std::move(row));
}

// The change that gave the verdict; `verbose`: every one that is not the same.
std::vector<const MetricChange*> shown_changes(const JudgedPoint& point, bool verbose) {
  std::vector<const MetricChange*> shown;
  if (const MetricChange* const telling = telling_change(point)) {
    shown.push_back(telling);
  } else if (const MetricChange* const time = point.change(Metric::time)) {
    shown.push_back(time);
  }
  for (const MetricChange& change : point.changes) {
    if (verbose && change.verdict != Verdict::same && &change != shown.front()) {
      shown.push_back(&change);
    }
  }
  if (shown.empty()) {
    shown.push_back(nullptr);
  }
  return shown;
}

std::string further_points(const Judgement& judgement, std::size_t shown) {
  std::map<Verdict, std::size_t> rest;
  for (std::size_t i = shown; i < judgement.points.size(); ++i) {
    ++rest[judgement.points[i].verdict];
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : rest) {
    parts.push_back(fmt::format("{} {}", count, name_of(verdict)));
  }
  return parts.empty() ? ""
                       : fmt::format("{} more: {}", judgement.points.size() - shown, fmt::join(parts, ", "));
}

// Why points are missing, failing or inconclusive, each reason once, with the first point.
std::vector<std::string> reasons_of(const Judgement& judgement, const PointNames& names) {
  std::map<std::string, std::pair<std::size_t, const JudgedPoint*>> reasons;
  for (const JudgedPoint& point : judgement.points) {
    if (!point.reason.empty()) {
      auto& [count, first] = reasons[fmt::format("{}: {}", name_of(point.verdict), point.reason)];
      first = count++ == 0 ? &point : first;
    }
  }
  std::vector<std::pair<std::string, std::pair<std::size_t, const JudgedPoint*>>> sorted(reasons.begin(),
                                                                                         reasons.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
  std::vector<std::string> lines;
  for (const auto& [reason, points] : sorted) {
    lines.push_back(points.first == 1 ? fmt::format("{} is {}", names.of(*points.second), reason)
                                      : fmt::format("{} points are {}", points.first, reason));
  }
  return lines;
}

}  // namespace

std::string as_table(const Judgement& judgement, std::size_t width, bool verbose) {
  const PointNames names(judgement, verbose ? kLongestText : 60);
  std::string text = wrap(subject_in_words(judgement), width, 2) + "\n";
  for (const std::string& line : headlines(judgement)) {
    text += wrap("* " + line, width, 2);
  }
  std::vector<Row> rows{header(judgement)};
  const std::size_t shown = rows_of(judgement, verbose);
  for (std::size_t i = 0; i < shown; ++i) {
    const JudgedPoint& point = judgement.points[i];
    for (const MetricChange* change : shown_changes(point, verbose)) {
      rows.push_back(row_of(judgement, point, names.of(point), change));
    }
  }
  text += "\n" + in_columns(rows,
                            columns_of<bool>(judgement, {false, false, false, true, true, true, true, true}),
                            width);
  if (shown < judgement.points.size()) {
    text += further_points(judgement, shown) + " (--verbose)\n";
  }
  std::vector<std::string> warnings = reasons_of(judgement, names);
  const std::size_t most = verbose ? warnings.size() : std::min<std::size_t>(warnings.size(), 3);
  warnings.resize(most);
  warnings.insert(warnings.end(), judgement.notes.begin(), judgement.notes.end());
  if (verbose) {
    for (const Difference& difference : judgement.differences) {
      warnings.push_back(
          fmt::format("Different: {}: {} → {}", difference.what, difference.base, difference.next));
    }
  }
  text += warnings.empty() ? "" : "\n";
  for (const std::string& warning : warnings) {
    text += wrap(warning, width, 2);
  }
  return text;
}

std::string as_markdown(const Judgement& judgement, bool verbose) {
  // A comment on GitHub has 65,536 characters at most.
  constexpr std::size_t kMostBytes = 50'000;
  constexpr std::size_t kLongestName = 120;
  const PointNames names(judgement, kLongestName);
  const std::vector<std::string> lines = headlines(judgement);
  std::string text = fmt::format("### bench compare: {}\n\n", outcome(judgement));
  text += markdown_text(subject_in_words(judgement)) + "\n\n";
  for (const std::string& line : lines) {
    text += "- " + markdown_text(line) + "\n";
  }
  const std::vector<std::string> rules =
      columns_of<std::string>(judgement, {"---", "---", "---", "---:", "---:", "---:", "---:", "---:"});
  text += fmt::format("\n| {} |\n| {} |\n", fmt::join(header(judgement), " | "), fmt::join(rules, " | "));
  const std::size_t wanted = rows_of(judgement, verbose);
  std::size_t shown = 0;
  for (; shown < wanted && text.size() < kMostBytes; ++shown) {
    const JudgedPoint& point = judgement.points[shown];
    for (const MetricChange* change : shown_changes(point, verbose)) {
      Row row = row_of(judgement, point, markdown_code(names.of(point)), change);
      row[0] = is_regression(point.verdict) ? fmt::format("**{}**", row[0]) : row[0];
      text += fmt::format("| {} |\n", fmt::join(row, " | "));
    }
  }
  if (shown < judgement.points.size()) {
    text += "\n" + further_points(judgement, shown) + "\n";
  }
  std::vector<std::string> warnings = reasons_of(judgement, names);
  warnings.resize(std::min<std::size_t>(warnings.size(), verbose ? 50 : 3));
  warnings.insert(warnings.end(), judgement.notes.begin(), judgement.notes.end());
  for (const Difference& difference : judgement.differences) {
    warnings.push_back(
        fmt::format("Different: {}: {} → {}", difference.what, difference.base, difference.next));
  }
  if (!warnings.empty()) {
    text += "\n<details><summary>Conditions</summary>\n\n";
    for (std::size_t i = 0; i < warnings.size() && text.size() < kMostBytes + 10'000; ++i) {
      text += "- " + markdown_text(warnings[i]) + "\n";
    }
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace bench
