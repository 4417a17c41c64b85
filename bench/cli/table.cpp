#include "bench/cli/table.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/modelled.h"
#include "bench/page/csv.h"
#include "bench/result/flags.h"
#include "bench/stats/estimate.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {
namespace {

Cell shown(const Json& value) {
  return value.is_string()   ? Cell(value.get<std::string>())
         : value.is_number() ? Cell::figure(value.dump())
                             : Cell(value.dump());
}

// A parameter that is the same everywhere says nothing in a column; `batch` and `dtype` are always looked
// for.
bool worth_a_column(const auto& points, const std::string& name) {
  if (name == "batch" || name == "dtype") {
    return true;
  }
  const Json* first = nullptr;  // not every point has every parameter
  for (const auto& point : points) {
    const auto value = point.params.find(name);
    if (value == point.params.end()) {
      continue;
    }
    if (first != nullptr && *first != *value) {
      return true;
    }
    first = &*value;
  }
  return false;
}

// "171 ± 2", predicted "171 (150–195)": the items of a step over its time.
Cell throughput(const Point& point) {
  if (!point.is_timed()) {
    return Cell::none();
  }
  const Estimate rate = point.items_per_s();
  return point.is_measured()
             ? Cell::figure(plus_minus_of_rounds(rate.value, rate.ci95, point.stats.rounds, kToInCell))
         : rate.ci95 ? Cell::number80(rate.value, *rate.ci95)
                     : Cell::number(rate.value);
}

// A member of the point's model.workspace; empty: there is none.
std::string workspace_member(const Point& point, const char* key) {
  const Json& model = point.prediction.model;
  const Json workspace = model.is_object() ? model.value("workspace", Json()) : Json();
  return workspace.is_object() ? workspace.value(key, std::string()) : "";
}

bool is_workspace_planned(const Point& point) {
  return !workspace_member(point, "planned_by").empty();
}

// "workspace planned by cuDNN 9.19 for sm_75", or why it is estimated.
std::string workspaces_in_words(std::span<const Point> points) {
  const auto planned = std::ranges::count_if(points, is_workspace_planned);
  const auto first = std::ranges::find_if(points, is_workspace_planned);
  const auto other = std::ranges::find_if_not(points, is_workspace_planned);
  std::string by =
      planned == 0 ? "" : fmt::format("workspace planned by {}", workspace_member(*first, "planned_by"));
  if (other == points.end()) {
    return by;
  }
  const std::string why = workspace_member(*other, "why_not");
  return fmt::format(
      "{}cuDNN's workspaces are estimated{}",
      planned == 0 ? "" : fmt::format("{} at {} of {} points, else ", by, planned, points.size()),
      why.empty() ? "" : fmt::format(" ({})", why));
}

// As asked for, then as measured.
std::vector<Json> dtypes_in_order(const ResultDocument& document, const auto& points) {
  std::vector<Json> dtypes;
  const auto add = [&](const Json& dtype) {
    if (std::ranges::find(dtypes, dtype) == dtypes.end()) {
      dtypes.push_back(dtype);
    }
  };
  if (const auto axis = document.sweep.axes.find("dtype"); axis != document.sweep.axes.end()) {
    std::ranges::for_each(*axis, add);
  }
  for (const auto& point : points) {
    add(point.params.value("dtype", Json()));
  }
  return dtypes;
}

// Growing by the parameters, numbers as numbers, dtypes in their order: points run, and are in the
// file, in another order.
bool comes_before(const Json& a, const Json& b, const std::vector<std::string>& parameters,
                  const std::vector<Json>& dtypes) {
  const auto place_of = [&](const Json& dtype) { return std::ranges::find(dtypes, dtype); };
  for (const std::string& name : parameters) {
    const Json left = a.value(name, Json());
    const Json right = b.value(name, Json());
    if (left != right) {
      return name == "dtype" ? place_of(left) < place_of(right) : left < right;
    }
  }
  return false;
}

// Without the sweep and the workload, where the run's first line names them.
std::string_view short_name(const ResultDocument& document, std::string_view name) {
  for (const std::string& part : {document.sweep.name + "/", document.sweep.workload + "/"}) {
    name.remove_prefix(name.starts_with(part) ? part.size() : 0);
  }
  return name;
}

}  // namespace

void add_parameters(const Json& params, std::vector<std::string>& names) {
  for (const auto& [name, value] : params.items()) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
}

std::string points_in_words(const ResultDocument& document, const std::vector<const UnmeasuredPoint*>& points,
                            std::size_t named) {
  if (points.size() == 1) {
    return std::string(short_name(document, points.front()->name));
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < named; ++i) {
    names.push_back(short_name(document, points[i]->name));
  }
  const std::string more =
      named < points.size() ? fmt::format(" and {} more", points.size() - named) : std::string();
  return fmt::format("{} points{}", points.size(),
                     named == 0 ? "" : fmt::format(" ({}{})", fmt::join(names, ", "), more));
}

namespace {

using UnmeasuredGroup = std::vector<const UnmeasuredPoint*>;

// Points of one status and reason, in the order of their first.
std::vector<UnmeasuredGroup> alike(const std::vector<const UnmeasuredPoint*>& points) {
  std::vector<UnmeasuredGroup> groups;
  for (const UnmeasuredPoint* point : points) {
    const auto group = std::ranges::find_if(groups, [&](const auto& one) {
      return one.front()->status == point->status && one.front()->reason == point->reason;
    });
    if (group == groups.end()) {
      groups.push_back({point});
    } else {
      group->push_back(point);
    }
  }
  return groups;
}

struct PointColumn {
  std::string header;
  std::function<Cell(const Point&)> cell;
};

// Points in the order of their rows, with the cells of the parameters that differ.
class PointRows {
 public:
  PointRows(const ResultDocument& document, std::span<const Point> points) {
    for (const Point& point : points) {
      points_.push_back(&point);
      add_parameters(point.params, parameters_);
    }
    std::erase_if(parameters_, [&](const std::string& name) { return !worth_a_column(points, name); });
    // Rows of one dtype follow one another, so that they read as a curve over the batch.
    std::vector<std::string> order = parameters_;
    std::stable_partition(order.begin(), order.end(),
                          [](const std::string& name) { return name != "batch"; });
    const std::vector<Json> dtypes = dtypes_in_order(document, points);
    std::ranges::stable_sort(points_, [&](const Point* a, const Point* b) {
      return comes_before(a->params, b->params, order, dtypes);
    });
  }

  // `others`: the columns after the parameters.
  TextTable table(const std::vector<PointColumn>& others) const {
    TextTable table{.title = "", .rows = {Cells(parameters_.begin(), parameters_.end())}};
    for (const PointColumn& column : others) {
      table.rows.front().emplace_back(column.header);
    }
    for (const Point* point : points_) {
      Cells& row = table.rows.emplace_back();
      for (const std::string& name : parameters_) {
        const auto value = point->params.find(name);
        row.push_back(value == point->params.end() ? Cell::none() : shown(*value));
      }
      for (const PointColumn& column : others) {
        row.push_back(column.cell(*point));
      }
    }
    return table;
  }

 private:
  std::vector<std::string> parameters_;
  std::vector<const Point*> points_;
};

}  // namespace

TextTable points_table(const ResultDocument& document) {
  const auto measured = measured_points(document);
  const auto points = measured.empty() ? modelled_points(document) : measured;
  if (points.empty()) {
    return {};
  }
  const FlagMarks marks(measured);
  std::vector<PointColumn> columns;
  // Of copies and collectives a step has no samples.
  const bool has_samples = std::ranges::any_of(
      points, [](const Point& point) { return !point.is_measured() || point.params.contains("batch"); });
  if (!has_samples) {
    columns.push_back({fmt::format("time ({})", level_in_words(Origin::measured)), [](const Point& point) {
                         return Cell::time(point.stats.median_ns, point.stats.ci95_ns);
                       }});
  } else if (!measured.empty() || std::ranges::any_of(points, &Point::is_timed)) {
    columns.push_back({fmt::format("samples/s ({})", level_in_words(points.front().origin)), throughput});
    columns.push_back({"step time", [](const Point& point) { return Cell::time(point.step_ns().value); }});
  }
  columns.push_back({"memory", [](const Point& point) { return Cell::bytes(point.peak()); }});
  // The plan is shown where it and the tracker disagree somewhere.
  if (std::ranges::any_of(measured, [](const Point& point) {
        return point.memory.peak_predicted != point.memory.peak_measured;
      })) {
    columns.push_back(
        {"planned", [](const Point& point) { return Cell::bytes(point.memory.peak_predicted); }});
  }
  if (!measured.empty()) {
    columns.push_back({"driver", [](const Point& point) { return Cell::bytes(point.memory.driver_used); }});
    columns.push_back({"", [&](const Point& point) { return Cell(marks.of(point)); }});
  } else if (std::ranges::any_of(points, is_workspace_planned)) {
    columns.push_back({"workspace", [](const Point& point) {
                         return is_workspace_planned(point)
                                    ? Cell::bytes(point.memory.by_category[MemoryCategory::workspace])
                                    : Cell("estimated");
                       }});
  }
  return PointRows(document, points).table(columns);
}

TextTable unmeasured_table(const ResultDocument& document) {
  std::vector<const UnmeasuredPoint*> all;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    all.push_back(&point);
  }
  TextTable table{.title = "", .rows = {{"points", "status", "reason"}}};
  for (const UnmeasuredGroup& group : alike(all)) {
    table.rows.push_back({points_in_words(document, group, std::min<std::size_t>(group.size(), 3)),
                          group.front()->status, group.front()->reason});
  }
  return table;
}

std::string predicted_title(const ResultDocument& document) {
  const RunContext& context = document.context;
  return fmt::format("Predicted for {}{} on {}; nothing was measured; {}", context.detail("framework"),
                     cast_in_words(context.detail(kCastDetail)), context.device.name,
                     workspaces_in_words(modelled_points(document)));
}

namespace {

// One for each status, of errors one for each reason, these first.
std::vector<std::vector<UnmeasuredGroup>> by_line(const std::vector<UnmeasuredGroup>& groups) {
  std::vector<std::vector<UnmeasuredGroup>> lines;
  for (const UnmeasuredGroup& group : groups) {
    const std::string& status = group.front()->status;
    const auto same = std::ranges::find_if(
        lines, [&](const auto& line) { return line.front().front()->status == status && status != "error"; });
    if (same == lines.end()) {
      lines.push_back({group});
    } else {
      same->push_back(group);
    }
  }
  std::ranges::stable_partition(lines,
                                [](const auto& line) { return line.front().front()->status == "error"; });
  return lines;
}

std::size_t points_of(const std::vector<UnmeasuredGroup>& line) {
  std::size_t points = 0;
  for (const UnmeasuredGroup& group : line) {
    points += group.size();
  }
  return points;
}

std::string points_in_words(std::size_t points) {
  return fmt::format("{} point{}", points, points == 1 ? "" : "s");
}

// "✕ 9 more points: oom, unsupported (--verbose)".
std::string further_in_words(std::span<const std::vector<UnmeasuredGroup>> lines) {
  std::size_t points = 0;
  std::vector<std::string> names;
  for (const auto& line : lines) {
    points += points_of(line);
    if (std::ranges::find(names, line.front().front()->status) == names.end()) {
      names.push_back(line.front().front()->status);
    }
  }
  return fmt::format("✕ {} more points: {} (--verbose)", points, fmt::join(names, ", "));
}

}  // namespace

std::vector<Paragraph> unmeasured_in_words(const ResultDocument& document, bool verbose) {
  std::vector<const UnmeasuredPoint*> listed;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (verbose || !point.lacked_time()) {
      listed.push_back(&point);
    }
  }
  const std::vector<UnmeasuredGroup> groups = alike(listed);
  std::vector<Paragraph> paragraphs;
  if (verbose) {
    for (const UnmeasuredGroup& group : groups) {
      const std::size_t named = std::min<std::size_t>(group.size(), 3);
      paragraphs.push_back({.text = fmt::format("✕ {} {}: {}", points_in_words(document, group, named),
                                                group.front()->status, group.front()->reason)});
    }
    return paragraphs;
  }
  constexpr std::size_t kMost = 2;
  const auto lines = by_line(groups);
  const std::size_t shown = lines.size() > kMost ? kMost - 1 : lines.size();
  for (const auto& line : std::span(lines).first(shown)) {
    const UnmeasuredGroup& group = line.front();
    const std::string why = fmt::format("{}: {}", group.front()->status, group.front()->reason);
    const std::string brief = fmt::format("✕ {} {}", points_in_words(points_of(line)), why);
    paragraphs.push_back({.text = line.size() == 1
                                      ? fmt::format("✕ {} {}", points_in_words(document, group, 1), why)
                                      : fmt::format("{}; {} more reason{} (--verbose)", brief,
                                                    line.size() - 1, line.size() == 2 ? "" : "s"),
                          .brief = brief});
  }
  if (shown < lines.size()) {
    paragraphs.push_back({.text = further_in_words(std::span(lines).subspan(shown))});
  }
  return paragraphs;
}

namespace {

// The length of what all names begin with, to its last slash.
std::size_t shared_length(const std::vector<PlannedPoint>& points) {
  std::string_view shared = points.empty() ? std::string_view() : std::string_view(points.front().name);
  for (const PlannedPoint& point : points) {
    const auto differ = std::ranges::mismatch(shared, point.name);
    shared = shared.substr(0, static_cast<std::size_t>(differ.in1 - shared.begin()));
  }
  const std::size_t slash = shared.rfind('/');
  return slash == std::string_view::npos ? 0 : slash + 1;
}

}  // namespace

TextTable planned_table(const std::vector<PlannedPoint>& points, std::int64_t memory_cap,
                        bool with_categories) {
  std::vector<MemoryCategory> filled;
  std::ranges::copy_if(kMemoryCategories, std::back_inserter(filled), [&](MemoryCategory category) {
    return with_categories &&
           std::ranges::any_of(points, [&](const PlannedPoint& point) { return point.memory[category] > 0; });
  });
  const std::size_t shared = with_categories ? shared_length(points) : 0;
  const bool has_most = std::ranges::any_of(
      points, [](const PlannedPoint& point) { return point.most_bytes > point.predicted_bytes; });
  TextTable table{.title = "", .rows = {{"point", "memory plan"}}};
  if (has_most) {
    table.rows.front().emplace_back("at most");
  }
  table.rows.front().emplace_back("of the cap");
  for (const MemoryCategory category : filled) {
    table.rows.front().emplace_back(name_of(category));
  }
  table.rows.front().emplace_back("");
  for (const PlannedPoint& point : points) {
    const std::int64_t most = std::max(point.predicted_bytes, point.most_bytes);
    const double share = memory_cap > 0 ? static_cast<double>(most) / static_cast<double>(memory_cap) : 0;
    Cells& row = table.rows.emplace_back();
    row = {point.name.substr(shared), Cell::bytes(point.predicted_bytes)};
    if (has_most) {
      row.push_back(Cell::bytes(most));
    }
    row.push_back(share > 0 ? Cell::share(share) : Cell::none());
    for (const MemoryCategory category : filled) {
      row.push_back(Cell::bytes(point.memory[category]));
    }
    row.emplace_back(point.problem.empty() && memory_cap > 0 && most > memory_cap ? "may be too large"
                     : with_categories && point.problem == kBeyondCap             ? "too large"
                                                                                  : point.problem);
  }
  return table;
}

std::string planned_csv(const std::vector<PlannedPoint>& points) {
  std::vector<Cells> rows{{"point", "memory_bytes", "problem"}};
  for (const PlannedPoint& point : points) {
    rows.push_back({point.name, point.predicted_bytes, point.problem});
  }
  return csv_table(rows);
}

}  // namespace bench
