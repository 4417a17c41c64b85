#include "bench/report/stored_answer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/advice_formats.h"
#include "bench/compare/formats.h"
#include "bench/error.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/result/result_json.h"
#include "bench/text/quote.h"

namespace bench::report {
namespace {

constexpr std::size_t kMostRows = 100;

void add_table(TextTable table, Page& page) {
  if (const std::size_t rows = table.rows.size(); rows > kMostRows + 1) {
    table.rows.resize(kMostRows + 1);
    table.below = fmt::format("The first {} of {} rows; the file has all.", kMostRows, rows - 1);
  }
  page.table(std::move(table));
}

void add_claims(const std::vector<std::string>& claims, const std::vector<std::string>& notes,
                StoredAnswer& answer) {
  answer.claim = claims.empty() ? "" : claims.front();
  answer.page.answer(claims, {.shown_by = "in the file"});
  for (const std::string& note : notes) {
    answer.page.say(note, Tone::aside);
  }
}

StoredAnswer evaluation_answer(const Field& root) {
  const Evaluation evaluation = read_evaluation(root);
  std::vector<std::string> labels;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label + (device.predicted ? " (predicted)" : ""));
  }
  StoredAnswer answer;
  answer.page.title =
      fmt::format("Evaluation: {} on {}", task_in_words(evaluation.task), list_in_words(labels));
  add_claims(claims_of(evaluation, false), evaluation.notes, answer);
  for (TextTable& table : tables_at_saturation(evaluation)) {
    add_table(std::move(table), answer.page);
  }
  constexpr std::size_t kNoRows = 0;
  plots::Picture picture = picture_of(evaluation);
  for (plots::Chart& chart : picture.charts) {
    answer.page.blocks.emplace_back(Figure{std::move(chart), kNoRows});
  }
  return answer;
}

StoredAnswer comparison_answer(const Field& root) {
  const ComparisonDocument comparison = read_comparison(root);
  StoredAnswer answer;
  std::vector<std::string> names;
  for (const JudgedSuite& suite : comparison.judgement.suites) {
    names.push_back(fmt::format("{} on {}", suite.name, suite.device));
  }
  answer.page.title = fmt::format("Comparison: {}: {}", fmt::join(names, ", "), comparison.outcome);
  add_claims(comparison.headlines, comparison.judgement.notes, answer);
  TextTable table{.title = "Points that are not surely the same",
                  .rows = {{"point", "metric", "verdict", "new over base"}}};
  for (const JudgedPoint& point : comparison.points) {
    if (point.changes.empty() && point.verdict != Verdict::same) {
      table.rows.push_back({point.name, "", name_of(point.verdict), ""});
    }
    for (const MetricChange& change : point.changes) {
      if (change.verdict != Verdict::same) {
        const Ratio& ratio = change.estimate.ratio;
        table.rows.push_back({point.name, name_of(change.metric), name_of(change.verdict),
                              is_tested(change.metric) ? Cell::times(ratio.value, ratio.interval) : Cell()});
      }
    }
  }
  add_table(std::move(table), answer.page);
  return answer;
}

StoredAnswer advice_answer(const Field& root) {
  const Advice advice = advice_of(root);
  StoredAnswer answer;
  answer.page = advice_page(advice);
  answer.claim = std::get<Paragraph>(answer.page.blocks.front()).text;
  answer.page.title = "Advice: " + advice.subject;
  answer.page.blocks.insert(answer.page.blocks.begin(), Paragraph{.text = advice.basis, .tone = Tone::aside});
  return answer;
}

struct Reader {
  std::string_view schema;
  std::string_view version;
  StoredAnswer (*read)(const Field& root);
};
constexpr std::array<Reader, 3> kReaders{{{"bench-evaluation", "/1", evaluation_answer},
                                          {"bench-compare", "/1", comparison_answer},
                                          {"bench-advice", "/1", advice_answer}}};

const Reader* reader_of(const Json& json) {
  const std::string schema = json.is_object() ? text_member(json, "schema") : "";
  const auto* const found = std::ranges::find(kReaders, schema.substr(0, schema.find('/')), &Reader::schema);
  return found == kReaders.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string> stored_answer_schemas() {
  std::vector<std::string> schemas;
  for (const Reader& reader : kReaders) {
    schemas.emplace_back(reader.schema);
  }
  return schemas;
}

bool is_stored_answer(const Json& json) {
  return reader_of(json) != nullptr;
}

StoredAnswer stored_answer_of(const Json& json, const std::string& file) {
  const Reader& reader = *reader_of(json);
  const std::string expected = fmt::format("{}{}", reader.schema, reader.version);
  if (const std::string schema = text_member(json, "schema"); schema != expected) {
    throw UsageError(fmt::format("{}: schema is {}; this program reads {}", file, quote(schema), expected));
  }
  try {
    StoredAnswer answer = reader.read(Field(json));
    answer.file = file;
    return answer;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace bench::report
