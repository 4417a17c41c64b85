// The page for a terminal, and for a pull request.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/formats.h"
#include "bench/compare/wording.h"
#include "bench/page/page.h"
#include "bench/text/escape.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// "270000": in three digits, for what decides is the change, which has an interval.
std::string rate(const JudgedPoint& point, double step_ns) {
  if (step_ns <= 0 || point.items_per_step <= 0) {
    return "–";
  }
  const double per_s = point.items_per_step * 1e9 / step_ns;
  const double unit = std::pow(10, std::floor(std::log10(per_s)) - 2);
  return format_number(unit * std::round(per_s / unit));
}

// In one column: a narrow terminal shows both or neither.
Cell from_to(const std::string& base, const std::string& next) {
  return Cell::figure(fmt::format("{} → {}", base, next));
}

Cells row_of(const JudgedPoint& point, const std::string& name, const MetricChange* change) {
  if (change == nullptr) {
    return {name_of(point.verdict), name};
  }
  const MetricChange* const time = point.change(Metric::time);
  return {name_of(point.verdict),
          name,
          name_of(change->metric),
          Cell::figure(change_in_words(*change)),
          from_to(value_in_words(change->metric, change->base), value_in_words(change->metric, change->next)),
          time == nullptr ? Cell() : from_to(rate(point, time->base), rate(point, time->next)),
          Cell::figure(machines_in_words(*change))};
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

std::string further_points(const Judgement& judgement, std::size_t shown, bool verbose) {
  std::map<Verdict, std::size_t> rest;
  for (std::size_t i = shown; i < judgement.points.size(); ++i) {
    ++rest[judgement.points[i].verdict];
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : rest) {
    parts.push_back(fmt::format("{} {}", count, name_of(verdict)));
  }
  return parts.empty() ? ""
                       : fmt::format("{} more: {}{}", judgement.points.size() - shown, fmt::join(parts, ", "),
                                     verbose ? "" : " (--verbose)");
}

// Why points are missing, failing or inconclusive, each reason once, with the first point; without what
// a headline says.
std::vector<std::string> reasons_of(const Judgement& judgement, const PointNames& names) {
  std::map<std::string, std::pair<std::size_t, const JudgedPoint*>> reasons;
  const std::string in_headline = headline_reason(judgement);
  for (const JudgedPoint& point : judgement.points) {
    if (!point.reason.empty() && point.reason != in_headline) {
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

// What `change` is of, where a reader who divides the two numbers next to it gets another one: it is less
// what all points share, and each run's, or each pair's, where the numbers are medians.
std::string change_note(const Judgement& judgement, const std::vector<const MetricChange*>& shown) {
  constexpr double kSeen = 0.02;
  std::vector<std::string> shared;
  bool differs = false;
  for (const MetricChange* const change : shown) {
    if (change == nullptr || change->metric != Metric::time) {
      continue;
    }
    if (leaves_out_shared(*change) && std::ranges::count(shared, signed_percent(change->shared)) == 0) {
      shared.push_back(signed_percent(change->shared));
    }
    const double whole = change->estimate.ratio.value * change->shared;
    differs = differs || (change->machines.empty() && change->base > 0 && change->next > 0 &&
                          std::abs(std::log(change->next / change->base / whole)) > kSeen);
  }
  std::vector<std::string> parts;
  if (!shared.empty()) {
    parts.push_back(fmt::format("beyond the {} that all points share", fmt::join(shared, " and ")));
  }
  if (differs) {
    parts.emplace_back(judgement.settings.paired ? "mean over the pairs; base → new: medians of all runs"
                                                 : "of the runs' means; base → new: their medians");
  }
  return parts.empty() ? "" : fmt::format("change: {}", fmt::join(parts, ", "));
}

// How much of a judgement a page has.
struct Extent {
  std::size_t rows;
  std::size_t reasons;
  std::size_t name;  // characters
  bool all_changes;  // of a point, not the one that gave its verdict alone
  bool differences;  // between the sides' conditions
};

Page page_of(const Judgement& judgement, std::string title, const Extent& extent) {
  const PointNames names(judgement, extent.name);
  const std::string subject = subject_in_words(judgement);
  Page page{.title = std::move(title)};
  const std::vector<std::string> lines = headlines(judgement);
  page.answer(lines, {});
  page.say(page.title == subject ? "" : subject);
  TextTable table{.rows = {{"verdict", "point", "of", "change", "base → new", "samples/s", "machines"}}};
  const std::size_t rows = std::min(extent.rows, judgement.points.size());
  std::vector<const MetricChange*> shown;
  for (std::size_t i = 0; i < rows; ++i) {
    const JudgedPoint& point = judgement.points[i];
    for (const MetricChange* change : shown_changes(point, extent.all_changes)) {
      table.rows.push_back(row_of(point, names.of(point), change));
      shown.push_back(change);
    }
  }
  const std::string further = further_points(judgement, rows, extent.all_changes);
  const std::string of_what = change_note(judgement, shown);
  table.below = further + (further.empty() || of_what.empty() ? "" : "; ") + of_what;
  page.table(std::move(table));
  std::vector<ListItem> conditions;
  for (const std::string& reason : reasons_of(judgement, names)) {
    if (conditions.size() < extent.reasons) {
      conditions.push_back({.text = reason});
    }
  }
  for (const std::string& note : judgement.notes) {
    conditions.push_back({.text = note});
  }
  for (const Difference& difference : judgement.differences) {
    if (extent.differences && !name_all_differences(lines, judgement)) {
      conditions.push_back(
          {.text = fmt::format("Different: {}: {} → {}", difference.what, difference.base, difference.next)});
    }
  }
  if (!conditions.empty()) {
    page.blocks.emplace_back(List{.title = "Conditions", .items = std::move(conditions), .folded = true});
  }
  return page;
}

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

}  // namespace

std::string as_table(const Judgement& judgement, std::size_t width, bool verbose) {
  const Extent extent =
      verbose ? Extent{kAll, kAll, kLongestText, true, true} : Extent{kRows, 3, 60, false, false};
  return page_text(page_of(judgement, subject_in_words(judgement), extent), width);
}

std::string as_markdown(const Judgement& judgement, bool verbose) {
  constexpr std::size_t kMostBytes = 60'000;  // a comment on GitHub has 65,536 characters at most
  Extent extent = verbose ? Extent{400, 50, 120, true, true} : Extent{kRows, 3, 120, false, true};
  std::string text;
  do {
    text = page_markdown(page_of(judgement, "bench compare: " + outcome(judgement), extent));
    extent.rows /= 2;
    extent.reasons /= 2;
  } while (text.size() > kMostBytes && extent.rows > 0);
  return text;
}

}  // namespace bench
