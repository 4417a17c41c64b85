#include "bench/cli/csv.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/table.h"
#include "bench/page/csv.h"
#include "bench/result/result_json.h"
#include "bench/stats/estimate.h"

namespace bench {
namespace {

using Fields = Cells;

// Behind the parameters, in this order; a line leaves out what it does not have.
constexpr std::array<std::string_view, 9> kFigureColumns{"items_per_s", "items_per_s_low", "items_per_s_high",
                                                         "step_ns",     "step_ns_low",     "step_ns_high",
                                                         "peak_bytes",  "flags",           "reason"};
using Figures = std::map<std::string, Cell, std::less<>>;  // by column

void add_estimate(Figures& figures, const std::string& column, const Estimate& estimate) {
  figures[column] = csv_number(estimate.value);
  figures[column + "_low"] = csv_low(estimate.ci95);
  figures[column + "_high"] = csv_high(estimate.ci95);
}

Figures figures_of(const Point& point) {
  Figures figures{{"flags", fmt::format("{}", fmt::join(point.validity.flags, ";"))}};
  if (point.is_timed()) {
    add_estimate(figures, "items_per_s", point.items_per_s());
    add_estimate(figures, "step_ns", point.step_ns());
  }
  if (point.is_timed() || point.peak() > 0) {
    figures["peak_bytes"] = point.peak();
  }
  return figures;
}

class CsvRows {
 public:
  // `before`: of columns before the names of the points.
  CsvRows(const Fields& before, std::vector<std::string> parameters) : parameters_(std::move(parameters)) {
    Fields header = before;
    header.insert(header.end(), {"name", "status"});
    header.insert(header.end(), parameters_.begin(), parameters_.end());
    header.insert(header.end(), kFigureColumns.begin(), kFigureColumns.end());
    rows_.push_back(std::move(header));
  }

  void add(const Fields& before, const std::string& name, const std::string& status, const Json& params,
           const Figures& figures) {
    Fields row = before;
    row.insert(row.end(), {name, status});
    for (const std::string& parameter : parameters_) {
      const auto value = params.find(parameter);
      row.emplace_back(value == params.end() ? ""
                       : value->is_string()  ? value->get<std::string>()
                                             : value->dump());
    }
    for (const std::string_view column : kFigureColumns) {
      const auto figure = figures.find(column);
      row.push_back(figure == figures.end() ? Cell() : figure->second);
    }
    rows_.push_back(std::move(row));
  }

  const std::vector<Fields>& rows() const { return rows_; }

 private:
  std::vector<std::string> parameters_;
  std::vector<Fields> rows_;
};

// What a loader is expected to do where nothing was measured: the file's "simulated".
std::vector<Json> simulated_points(const ResultDocument& document) {
  const Json& state = document.sweep.state;
  const Json::json_pointer at("/simulated/points");
  if (!measured_points(document).empty() || !state.contains(at) || !state.at(at).is_array()) {
    return {};
  }
  std::vector<Json> points(state.at(at).begin(), state.at(at).end());
  std::erase_if(points, [](const Json& point) {
    return !point.is_object() || !point.contains("images_per_s") || !point["images_per_s"].is_number();
  });
  return points;
}

// All but its rate.
Json simulated_params(Json point) {
  point.erase("images_per_s");
  point.erase("au_ci95");
  return point;
}

// Of its rate, which is in proportion to its AU; none where the simulation gives none.
std::optional<Interval> simulated_interval(const Json& point) {
  const Json ci = point.value("au_ci95", Json());
  const Json au = point.value("au", Json());
  if (!ci.is_array() || ci.size() != 2 || !ci[0].is_number() || !ci[1].is_number() || !au.is_number() ||
      au.get<double>() <= 0) {
    return std::nullopt;
  }
  const double per_au = point["images_per_s"].get<double>() / au.get<double>();
  return Interval{per_au * ci[0].get<double>(), per_au * ci[1].get<double>()};
}

void add_simulated(CsvRows& rows, const Fields& before, const ResultDocument& document) {
  for (const Json& point : simulated_points(document)) {
    Figures figures;
    add_estimate(figures, "items_per_s", {.value = point["images_per_s"], .ci95 = simulated_interval(point)});
    rows.add(before,
             fmt::format("{}/{}/workers:{}", document.sweep.name, document.sweep.workload,
                         whole_member(point, "workers")),
             "simulated", simulated_params(point), figures);
  }
}

std::vector<std::string> parameters_of(const std::vector<const ResultDocument*>& documents) {
  std::vector<std::string> parameters;
  for (const ResultDocument* const document : documents) {
    for (const Point& point : document->points) {
      add_parameters(point.params, parameters);
    }
    for (const UnmeasuredPoint& point : document->unmeasured) {
      add_parameters(point.params, parameters);
    }
    for (const Json& point : simulated_points(*document)) {
      add_parameters(simulated_params(point), parameters);
    }
  }
  return parameters;
}

void add_points(CsvRows& rows, const Fields& before, const ResultDocument& document) {
  for (const Point& point : document.points) {
    rows.add(before, point.name, std::string(name_of(point.origin)), point.params, figures_of(point));
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    rows.add(before, point.name, point.status, point.params, {{"reason", point.reason}});
  }
  add_simulated(rows, before, document);
}

}  // namespace

std::string result_csv(const ResultDocument& document) {
  CsvRows rows({}, parameters_of({&document}));
  add_points(rows, {}, document);
  return csv_table(rows.rows());
}

std::string results_csv(const std::vector<ResultOfFile>& results) {
  std::vector<const ResultDocument*> documents;
  std::ranges::transform(results, std::back_inserter(documents), &ResultOfFile::document);
  CsvRows rows({"file"}, parameters_of(documents));
  for (const ResultOfFile& result : results) {
    add_points(rows, {result.file}, *result.document);
  }
  return csv_table(rows.rows());
}

}  // namespace bench
