#include "bench/report/markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/escape.h"

namespace bench::report {
namespace {

constexpr std::size_t kLongestSentence = 2000;  // characters
constexpr std::size_t kRows = 100;              // of a table

std::string escaped(std::string_view text) {
  return markdown_text(text, kLongestSentence);
}

std::string markdown_table(const TextTable& table) {
  if (table.rows.size() < 2) {
    return "";
  }
  const std::size_t columns = table.rows.front().size();
  std::string text;
  const auto row = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < columns; ++i) {
      text += fmt::format("| {} ", i < cells.size() ? escaped(cells[i]) : "");
    }
    text += "|\n";
  };
  row(table.rows.front());
  for (std::size_t i = 0; i < columns; ++i) {
    text += i < table.right.size() && table.right[i] ? "| ---: " : "| --- ";
  }
  text += "|\n";
  for (std::size_t i = 1; i < table.rows.size() && i <= kRows; ++i) {
    row(table.rows[i]);
  }
  if (table.rows.size() > kRows + 1) {
    text +=
        fmt::format("\nThe first {} of {} rows; the result file has all.\n", kRows, table.rows.size() - 1);
  }
  return text + "\n";
}

std::string markdown_list(const std::vector<std::string>& claims) {
  std::string text;
  for (const std::string& claim : claims) {
    text += fmt::format("- {}\n", escaped(claim));
  }
  return text + "\n";
}

std::string markdown_facts(const Facts& facts) {
  std::string text;
  for (const auto& [name, fact] : facts) {
    text += fmt::format("- {}: {}\n", escaped(name), escaped(fact));
  }
  return text + "\n";
}

std::string predicted_mark(bool predicted) {
  return predicted ? " (predicted, not measured)" : "";
}

std::string markdown_section(const ReportSection& section) {
  std::string text = fmt::format("## {}\n\n{}\n\n", escaped(section.title), escaped(section.question));
  text += markdown_list(section.findings);
  text += section.warning.empty() ? "" : fmt::format("{}\n\n", escaped(section.warning));
  for (const Chart& chart : section.charts) {
    text += fmt::format("### {}{}\n\n{}", escaped(chart.title), predicted_mark(chart.predicted),
                        markdown_table(chart_table(chart, kRows)));
  }
  if (section.charts.empty()) {
    text += markdown_table(section.points);
  }
  if (section.unmeasured.rows.size() > 1) {
    text += fmt::format("### {}\n\n{}",
                        section.predicted ? "Points without a prediction" : "Points that were not measured",
                        markdown_table(section.unmeasured));
  }
  return text + fmt::format("### {}\n\n{}",
                            section.predicted ? "How it was predicted" : "How it was measured",
                            markdown_facts(section.method));
}

}  // namespace

std::string report_markdown(const Report& report) {
  std::string text = fmt::format("# {}\n\n", escaped(report.title));
  for (std::size_t i = 0; i < report.answer.size(); ++i) {
    const ReportedFinding& finding = report.answer[i];
    const ReportSection& section = report.sections.at(finding.section);
    text += fmt::format("{}. {}{}{}\n", i + 1, escaped(finding.claim),
                        report.sections.size() > 1 ? fmt::format(" — {}", escaped(section.title)) : "",
                        predicted_mark(section.predicted));
  }
  text += report.answer.empty() ? "The results have no finding.\n\n" : "\n";
  for (const ReportSection& section : report.sections) {
    text += markdown_section(section);
  }
  text += "## Environment\n\n";
  for (const ReportEnvironment& environment : report.environments) {
    if (report.environments.size() > 1) {
      std::vector<std::string> titles;
      for (const std::size_t section : environment.sections) {
        titles.push_back(escaped(report.sections.at(section).title));
      }
      text += fmt::format("{}\n\n", fmt::join(titles, "; "));
    }
    text += markdown_facts(environment.facts);
  }
  return text;
}

}  // namespace bench::report
