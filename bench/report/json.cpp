#include "bench/report/json.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "bench/advise/advice_formats.h"
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
  Json rows = Json::array();
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    Json& row = rows.emplace_back(Json::object());
    for (std::size_t k = 0; k < table.rows[i].size(); ++k) {
      row[key_of(table.rows.front().at(k).text)] = table.rows[i][k].text;
    }
  }
  return rows;
}

Json facts_in_json(const Facts& facts) {
  Json object = Json::object();
  for (const auto& [name, fact] : facts) {
    object[name] = fact;
  }
  return object;
}

Json section_in_json(const ReportSection& section) {
  return {{"title", section.title},
          {"question", section.question},
          {"predicted", section.predicted},
          {"findings", section.findings},
          {"other_findings", section.others},
          {"warning", section.warnings.empty() ? Json() : Json(in_words(section.warnings))},
          {"points", table_in_json(section.points)},
          {"unmeasured", table_in_json(section.unmeasured)},
          {"method", facts_in_json(section.method)}};
}

Json titles_of(const Report& report, const std::vector<std::size_t>& sections) {
  Json titles = Json::array();
  for (const std::size_t section : sections) {
    titles.push_back(report.sections.at(section).title);
  }
  return titles;
}

}  // namespace

Json report_json(const Report& report) {
  Json json{{"title", report.title},
            {"answer", Json::array()},
            {"advice", report.advice ? advice_json(*report.advice) : Json()},
            {"no_advice", report.no_advice.empty() ? Json() : Json(report.no_advice)},
            {"stored_answers", Json::array()},
            {"fleets", Json::array()},
            {"results", Json::array()},
            {"environments", Json::array()}};
  for (const ReportedFinding& finding : report.answer) {
    json["answer"].push_back({{"claim", finding.claim},
                              {"result", finding.is_stored ? report.stored.at(finding.section).page.title
                                                           : report.sections.at(finding.section).title}});
  }
  for (const StoredAnswer& stored : report.stored) {
    json["stored_answers"].push_back(
        {{"title", stored.page.title}, {"file", stored.file}, {"claim", stored.claim}});
  }
  for (const ReportFleet& fleet : report.fleets) {
    json["fleets"].push_back({{"title", fleet.title},
                              {"machines", fleet.machines},
                              {"sentences", fleet.sentences},
                              {"points", table_in_json(fleet.points)}});
  }
  std::ranges::transform(report.sections, std::back_inserter(json["results"]), section_in_json);
  for (const ReportEnvironment& environment : report.environments) {
    json["environments"].push_back(
        {{"results", titles_of(report, environment.sections)}, {"facts", facts_in_json(environment.facts)}});
  }
  return json;
}

}  // namespace bench::report
