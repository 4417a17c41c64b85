#include "bench/report/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/advice_formats.h"
#include "bench/page/markdown.h"
#include "bench/report/chart_table.h"

namespace bench::report {
namespace {

constexpr std::size_t kRows = 100;  // of a table

std::string table_in_markdown(const TextTable& table) {
  return table.rows.size() < 2 ? "" : markdown_table(table.rows, table.right, kRows) + "\n";
}

std::string markdown_facts(const Facts& facts) {
  std::string text;
  for (const auto& [name, fact] : facts) {
    text += fmt::format("- {}: {}\n", markdown_sentence(name), markdown_sentence(fact));
  }
  return text + "\n";
}

std::string predicted_mark(bool predicted) {
  return predicted ? " (predicted, not measured)" : "";
}

std::string markdown_fleet(const ReportFleet& fleet) {
  return fmt::format("## {} machines: {}\n\n{}\n{}", fleet.machines, markdown_sentence(fleet.title),
                     markdown_list(fleet.sentences), table_in_markdown(fleet.points));
}

std::string markdown_section(const ReportSection& section) {
  std::string text =
      fmt::format("## {}\n\n{}\n\n", markdown_sentence(section.title), markdown_sentence(section.question));
  text += markdown_list(section.findings) + "\n";
  text += section.warning.empty() ? "" : fmt::format("{}\n\n", markdown_sentence(section.warning));
  for (const plots::Chart& chart : section.charts) {
    text += fmt::format("### {}{}\n\n{}", markdown_sentence(chart.title), predicted_mark(chart.predicted),
                        table_in_markdown(chart_table(chart, kRows)));
  }
  if (section.charts.empty()) {
    text += table_in_markdown(section.points);
  }
  if (section.unmeasured.rows.size() > 1) {
    text += fmt::format("### {}\n\n{}",
                        section.predicted ? "Points without a prediction" : "Points that were not measured",
                        table_in_markdown(section.unmeasured));
  }
  return text + fmt::format("### {}\n\n{}",
                            section.predicted ? "How it was predicted" : "How it was measured",
                            markdown_facts(section.method));
}

}  // namespace

std::string report_markdown(const Report& report) {
  std::string text = fmt::format("# {}\n\n", markdown_sentence(report.title));
  for (std::size_t i = 0; i < report.answer.size(); ++i) {
    const ReportedFinding& finding = report.answer[i];
    const ReportSection& section = report.sections.at(finding.section);
    text +=
        fmt::format("{}. {}{}{}\n", i + 1, markdown_sentence(finding.claim),
                    report.sections.size() > 1 ? fmt::format(" — {}", markdown_sentence(section.title)) : "",
                    predicted_mark(section.predicted));
  }
  text += report.answer.empty() ? "The results have no finding.\n\n" : "\n";
  if (report.advice) {
    text += fmt::format("## What to change\n\n{}\n", page_markdown(advice_page(*report.advice), 3));
  }
  text += report.no_advice.empty() ? "" : markdown_sentence(report.no_advice) + "\n\n";
  for (const ReportFleet& fleet : report.fleets) {
    text += markdown_fleet(fleet);
  }
  for (const ReportSection& section : report.sections) {
    text += markdown_section(section);
  }
  text += "## Environment\n\n";
  for (const ReportEnvironment& environment : report.environments) {
    if (report.environments.size() > 1) {
      std::vector<std::string> titles;
      for (const std::size_t section : environment.sections) {
        titles.push_back(markdown_sentence(report.sections.at(section).title));
      }
      text += fmt::format("{}\n\n", fmt::join(titles, "; "));
    }
    text += markdown_facts(environment.facts);
  }
  return text;
}

}  // namespace bench::report
