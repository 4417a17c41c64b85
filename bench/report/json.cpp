#include "bench/report/json.h"

#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/advice_formats.h"
#include "bench/result/json_members.h"
#include "bench/result/result.h"

namespace bench::report {
namespace {

// A heading may get better, its key stays. The column of the mark ○ has no heading.
std::string key_of(const std::string& heading) {
  const bool is_time = heading == fmt::format("time ({})", level_in_words(Origin::measured));
  return heading.empty() ? "mark" : is_time ? "step time" : heading;
}

// A row an object.
Json table_in_json(const TextTable& table) {
  std::vector<Facts> rows;
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    Facts& row = rows.emplace_back();
    for (std::size_t k = 0; k < table.rows[i].size(); ++k) {
      row.emplace_back(key_of(table.rows.front().at(k).text), table.rows[i][k].text);
    }
  }
  return written_value(rows);
}

void write_section(JsonWriter& io, const ReportSection& section) {
  io("title", section.title);
  io("question", section.question);
  io("predicted", section.predicted);
  io("findings", section.findings);
  io("other_findings", section.others);
  io.null_if_empty("warning", in_words(section.warnings));
  io("points", table_in_json(section.points));
  io("unmeasured", table_in_json(section.unmeasured));
  io("method", section.method);
}

std::vector<std::string> titles_of(const Report& report, const std::vector<std::size_t>& sections) {
  std::vector<std::string> titles;
  for (const std::size_t section : sections) {
    titles.push_back(report.sections.at(section).title);
  }
  return titles;
}

}  // namespace

Json report_json(const Report& report) {
  JsonWriter io;
  io("title", report.title);
  io.list("answer", report.answer, [&](JsonWriter& one, const ReportedFinding& finding) {
    one("claim", finding.claim);
    one("result", finding.is_stored ? report.stored.at(finding.section).page.title
                                    : report.sections.at(finding.section).title);
  });
  io("advice", report.advice ? std::optional(advice_json(*report.advice)) : std::nullopt);
  io.null_if_empty("no_advice", report.no_advice);
  io.list("stored_answers", report.stored, [](JsonWriter& one, const StoredAnswer& stored) {
    one("title", stored.page.title);
    one("file", stored.file);
    one("claim", stored.claim);
  });
  io.list("fleets", report.fleets, [](JsonWriter& one, const ReportFleet& fleet) {
    one("title", fleet.title);
    one("machines", fleet.machines);
    one("sentences", fleet.sentences);
    one("points", table_in_json(fleet.points));
  });
  io.list("results", report.sections, write_section);
  io.list("environments", report.environments, [&](JsonWriter& one, const ReportEnvironment& environment) {
    one("results", titles_of(report, environment.sections));
    one("facts", environment.facts);
  });
  return io.take();
}

}  // namespace bench::report
