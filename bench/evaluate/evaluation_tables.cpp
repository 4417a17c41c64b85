// An evaluation as text and Markdown.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/columns.h"
#include "bench/cli/markdown.h"
#include "bench/cli/text.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/measure/finding.h"
#include "bench/measure/memory_line.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

using TextRow = std::vector<std::string>;

struct EvaluationTable {
  TextRow header;
  std::vector<bool> right;
  std::vector<TextRow> rows;
};

std::string level_of(const Evaluation& evaluation) {
  const auto is_predicted = [](const EvaluatedDevice& device) { return device.predicted; };
  return std::ranges::all_of(evaluation.devices, is_predicted)    ? "80 %"
         : std::ranges::none_of(evaluation.devices, is_predicted) ? "95 %"
                                                                  : "interval";
}

// Columns that no row fills are left out.
EvaluationTable without_empty_columns(const EvaluationTable& table) {
  EvaluationTable kept{.header = {}, .right = {}, .rows = std::vector<TextRow>(table.rows.size())};
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    if (std::ranges::all_of(table.rows, [&](const TextRow& row) { return row[column].empty(); })) {
      continue;
    }
    kept.header.push_back(table.header[column]);
    kept.right.push_back(table.right[column]);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      kept.rows[i].push_back(table.rows[i][column]);
    }
  }
  return kept;
}

std::string largest_batch_cell(const EvaluatedCurve& curve) {
  return curve.largest ? fmt::format("{}{}", curve.extrapolated ? "~" : "", *curve.largest) : "";
}

// "178 MiB (92 %, tight)".
std::string memory_cell(const EvaluatedRow& row) {
  if (!row.memory_share) {
    return row.point.bytes > 0 ? format_bytes(row.point.bytes) : "";
  }
  const std::string_view state = headroom(*row.memory_share);
  return fmt::format("{} ({}{})", format_bytes(row.point.bytes), format_percent(*row.memory_share),
                     state == "safe" ? "" : fmt::format(", {}", state));
}

std::string samples_cell(const EvaluatedPoint& point) {
  return (point.is_bound ? "≤ " : "") + plus_minus(point.per_s, point.interval);
}

EvaluationTable saturation_table(const Evaluation& evaluation) {
  const std::string& currency = evaluation.prices.currency;
  EvaluationTable table{
      .header = {"device", "dtype", "batch", fmt::format("samples/s ({})", level_of(evaluation)),
                 "ratio to " + evaluation.devices.front().label, "of peak", "memory", "largest batch",
                 "J/sample", fmt::format("{}/million", currency.empty() ? "cost" : currency), "fed samples/s",
                 "cores"},
      .right = {false, false, true, true, true, true, true, true, true, true, true, true},
      .rows = {}};
  for (const EvaluatedRow& row : evaluation.rows) {
    const bool bound = row.point.is_bound;
    const std::string most = bound ? "≤ " : "";
    table.rows.push_back(
        {evaluation.device_of(row).label, row.dtype, std::to_string(row.point.batch), samples_cell(row.point),
         row.to_first ? ratio_in_words(*row.to_first) : "",
         row.peak_share ? most + format_percent(*row.peak_share) : "", memory_cell(row),
         largest_batch_cell(evaluation.curve_of(row)),
         row.joules_per_sample
             ? fmt::format("{}{}", row.power_measured ? "" : "≤ ", format_number(*row.joules_per_sample))
             : "",
         row.cost_per_million ? (bound ? "≥ " : "") + format_number(*row.cost_per_million) : "",
         row.feed ? fmt::format("{}{} ({})", most, format_number(row.feed->per_s), name_of(row.feed->limit))
                  : "",
         row.cores_to_feed ? fmt::format("{}{:.0f}", most, *row.cores_to_feed) : ""});
  }
  return without_empty_columns(table);
}

// Throughput of each device, and of two devices their ratio.
EvaluationTable batch_table(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<const EvaluatedCurve*> curves;
  EvaluationTable table{.header = {"batch"}, .right = {true}, .rows = {}};
  std::set<std::int64_t> batches;
  for (const EvaluatedDevice& device : evaluation.devices) {
    if (const EvaluatedCurve* const curve = device.in(dtype)) {
      curves.push_back(curve);
      table.header.push_back(device.label);
      table.right.push_back(true);
      for (const EvaluatedPoint& point : curve->points) {
        batches.insert(point.batch);
      }
    }
  }
  const bool is_pair = curves.size() == 2;
  if (is_pair) {
    table.header.emplace_back("ratio");
    table.right.push_back(true);
  }
  for (const std::int64_t batch : batches) {
    TextRow row{std::to_string(batch)};
    for (const EvaluatedCurve* const curve : curves) {
      const EvaluatedPoint* const point = curve->at(batch);
      row.push_back(point == nullptr ? "–" : samples_cell(*point));
    }
    if (is_pair) {
      const EvaluatedPoint* const first = curves[0]->at(batch);
      const EvaluatedPoint* const second = curves[1]->at(batch);
      row.push_back(
          first == nullptr || second == nullptr ? "–" : ratio_in_words(throughput_ratio_of(*second, *first)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> dtypes_shown(const Evaluation& evaluation, bool verbose) {
  return verbose ? dtypes_of(evaluation.devices) : std::vector<std::string>{evaluation.dtype};
}

// A wider table is in the data only.
constexpr std::size_t kMostColumns = 8;

std::vector<std::string> claims_of(const Evaluation& evaluation, bool verbose) {
  std::vector<std::string> claims;
  for (const Answer& answer : evaluation.answers) {
    if (verbose || answer.headline > 0) {
      claims.push_back(answer.claim);
    }
  }
  return claims;
}

// "resnet50 inference: t4 and rtx3060-12gb, predicted for eager PyTorch".
std::string evaluation_heading(const Evaluation& evaluation) {
  constexpr std::size_t kMostNamed = 6;
  std::vector<std::string> labels;
  std::set<std::string> frameworks;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label);
    frameworks.insert(device.predicted ? device.framework : "");
  }
  const std::string devices =
      labels.size() > kMostNamed ? fmt::format("{} devices", labels.size()) : list_in_words(labels);
  const std::string how = frameworks.size() > 1 ? "measured and predicted"
                          : frameworks.begin()->empty()
                              ? "measured"
                              : "predicted for " + framework_in_words(*frameworks.begin());
  return fmt::format("{}: {}, {}", task_in_words(evaluation.task), devices, how);
}

constexpr std::size_t kFewNotes = 4;

std::vector<std::string> notes_shown(const Evaluation& evaluation, bool verbose) {
  std::vector<std::string> notes = evaluation.notes;
  if (!verbose && notes.size() > kFewNotes) {
    const std::size_t more = notes.size() - kFewNotes + 1;
    notes.resize(kFewNotes - 1);
    notes.push_back(fmt::format("{} more notes (--verbose).", more));
  }
  return notes;
}

std::string in_lines(const EvaluationTable& table, std::size_t width) {
  std::vector<TextRow> rows = table.rows;
  rows.insert(rows.begin(), table.header);
  return in_columns(rows, table.right, width);
}

std::string as_markdown_table(const EvaluationTable& table) {
  std::vector<TextRow> rows = table.rows;
  rows.insert(rows.begin(), table.header);
  return markdown_table(rows, table.right);
}

}  // namespace

std::string evaluation_text(const Evaluation& evaluation, std::size_t width, bool verbose) {
  std::string text = wrap(evaluation_heading(evaluation), width, 2) + "\n";
  for (const std::string& claim : claims_of(evaluation, verbose)) {
    text += wrap("* " + claim, width, 2);
  }
  text += "\nAt the saturation batch\n" + in_lines(saturation_table(evaluation), width);
  for (const std::string& dtype : dtypes_shown(evaluation, verbose)) {
    const EvaluationTable table = batch_table(evaluation, dtype);
    if (table.header.size() <= kMostColumns) {
      text += fmt::format("\nSamples/s in {} by batch\n{}", dtype, in_lines(table, width));
    }
  }
  const std::vector<std::string> notes = notes_shown(evaluation, verbose);
  text += notes.empty() ? "" : "\n";
  for (const std::string& note : notes) {
    text += wrap(note, width, 2);
  }
  return text;
}

std::string evaluation_markdown(const Evaluation& evaluation, bool verbose) {
  std::string text = fmt::format("### {}\n\n", markdown_sentence(evaluation_heading(evaluation)));
  text += markdown_list(claims_of(evaluation, verbose));
  text += "\n" + as_markdown_table(saturation_table(evaluation));
  for (const std::string& dtype : dtypes_shown(evaluation, verbose)) {
    text += fmt::format("\nSamples/s in {} by batch:\n\n{}", dtype,
                        as_markdown_table(batch_table(evaluation, dtype)));
  }
  for (const std::string& note : notes_shown(evaluation, verbose)) {
    text += "\n" + markdown_sentence(note) + "\n";
  }
  return text;
}

}  // namespace bench
