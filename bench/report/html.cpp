#include "bench/report/html.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/advice_formats.h"
#include "bench/page/html.h"
#include "bench/report/chart_table.h"
#include "bench/report/download.h"
#include "bench/report/style.h"
#include "bench/text/escape.h"
#include "plots/svg.h"

namespace bench::report {
namespace {

// How much of a result a page shows. A page that would pass its limit is written again with the next.
struct Shown {
  std::size_t charts;
  std::size_t chart_rows;  // of the table behind a picture
  std::size_t rows;        // of the points
  std::size_t findings;    // beyond those that the run printed
};
constexpr std::array<Shown, 4> kShown{{{12, 100, 200, 60}, {12, 20, 20, 20}, {3, 0, 0, 0}, {0, 0, 0, 0}}};

std::string html_facts(const Facts& facts) {
  constexpr std::size_t kMost = 40;
  constexpr std::size_t kLongestName = 60;
  constexpr std::size_t kLongestFact = 300;
  std::string html = "<dl>";
  for (std::size_t i = 0; i < facts.size() && i < kMost; ++i) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", xml_text(facts[i].first, kLongestName),
                        xml_text(facts[i].second, kLongestFact));
  }
  return html + "</dl>\n";
}

std::string badge(bool predicted) {
  return predicted ? " <span class=\"predicted\">predicted, not measured</span>" : "";
}

std::string html_figure(const plots::Chart& chart, std::size_t rows) {
  const plots::SvgChart drawn = plots::chart_svg(chart);
  std::string html = fmt::format("<figure><h3>{}{}</h3>\n{}\n", html_sentence(chart.title),
                                 badge(chart.predicted), drawn.svg);
  if (!drawn.legend.empty()) {
    html += "<ul class=\"legend\">";
    for (const plots::SvgLegendEntry& entry : drawn.legend) {
      html += fmt::format("<li>{}<span>{}</span></li>", entry.mark, html_sentence(entry.text));
    }
    html += "</ul>\n";
  }
  std::vector<std::string> notes;
  for (const std::string& note : {chart.intervals, chart.note}) {
    if (!note.empty()) {
      notes.push_back(html_sentence(note));
    }
  }
  html += notes.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", fmt::join(notes, " "));
  return html + html_details("Table", html_table(chart_table(chart, rows), rows + 1)) + "</figure>\n";
}

std::string html_fleet(const ReportFleet& fleet, const Shown& shown) {
  return fmt::format("<section><h2>{} machines: {}</h2>\n{}{}</section>\n", fleet.machines,
                     html_sentence(fleet.title), html_list(fleet.sentences, fleet.sentences.size()),
                     html_table(fleet.points, shown.rows));
}

std::string html_section(const ReportSection& section, std::size_t number, const Shown& shown) {
  std::string html = fmt::format("<section id=\"r{}\"><h2>{}</h2>\n<p class=\"soft\">{}</p>\n", number,
                                 html_sentence(section.title), html_sentence(section.question));
  html += section.findings.empty() ? "<p>It has no finding.</p>\n"
                                   : html_list(section.findings, section.findings.size());
  html += section.warning.empty() ? ""
                                  : fmt::format("<p class=\"warn\">{}</p>\n", html_sentence(section.warning));
  if (section.charts.empty()) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", html_sentence(section.no_charts));
  }
  html += "<div class=\"charts\">\n";
  for (std::size_t i = 0; i < section.charts.size() && i < shown.charts; ++i) {
    html += html_figure(section.charts[i], shown.chart_rows);
  }
  html += "</div>\n";
  if (section.charts.size() > shown.charts) {
    html += fmt::format("<p class=\"soft\">{} more pictures have no room.</p>\n",
                        section.charts.size() - shown.charts);
  }
  if (!section.others.empty()) {
    html += html_details(fmt::format("Further findings ({})", section.others.size()),
                         html_list(section.others, shown.findings));
  }
  if (section.points.rows.size() > 1) {
    html += html_details(fmt::format("All points ({})", section.points.rows.size() - 1),
                         html_table(section.points, shown.rows));
  }
  if (section.unmeasured.rows.size() > 1) {
    html += html_details(section.predicted ? "Points without a prediction" : "Points that were not measured",
                         html_table(section.unmeasured, shown.rows));
  }
  html += html_details(section.predicted ? "How it was predicted" : "How it was measured",
                       html_facts(section.method));
  return html + "</section>\n";
}

std::string html_answer(const Report& report) {
  std::string html = "<section id=\"answer\"><ol class=\"answer\">\n";
  for (const ReportedFinding& finding : report.answer) {
    const ReportSection& section = report.sections.at(finding.section);
    html += fmt::format("<li>{}{}{}</li>\n", html_sentence(finding.claim), badge(section.predicted),
                        report.sections.size() > 1
                            ? fmt::format(" <small><a href=\"#r{}\">{}</a></small>", finding.section + 1,
                                          html_sentence(section.title))
                            : "");
  }
  html += report.answer.empty() ? "<li>The results have no finding.</li>" : "";
  return html + "</ol></section>\n";
}

std::string html_advice(const Report& report) {
  if (!report.advice) {
    return report.no_advice.empty()
               ? ""
               : fmt::format("<p class=\"soft\">{}</p>\n", html_sentence(report.no_advice));
  }
  return fmt::format("<section id=\"advice\"><h2>What to change</h2>\n{}</section>\n",
                     page_html(advice_page(*report.advice)));
}

std::string html_environments(const Report& report) {
  std::string html = "<section id=\"environment\"><h2>Environment</h2>\n";
  for (const ReportEnvironment& environment : report.environments) {
    if (report.environments.size() > 1) {
      std::vector<std::string> titles;
      for (const std::size_t section : environment.sections) {
        titles.push_back(fmt::format("<a href=\"#r{}\">{}</a>", section + 1,
                                     html_sentence(report.sections.at(section).title)));
      }
      html += fmt::format("<p>{}</p>\n", fmt::join(titles, "; "));
    }
    html += html_facts(environment.facts);
  }
  return html + "</section>\n";
}

std::string html_downloads(const std::vector<Download>& downloads) {
  std::string html = "<section id=\"data\"><h2>Results to download</h2>\n<ul>\n";
  for (const Download& download : downloads) {
    html += download.href.empty() ? fmt::format("<li>{}: {}</li>\n", html_sentence(download.name),
                                                html_sentence(download.extent))
                                  : fmt::format("<li><a download=\"{}\" href=\"{}\">{}</a> ({})</li>\n",
                                                html_sentence(download.name), download.href,
                                                html_sentence(download.name), html_sentence(download.extent));
  }
  return html + "</ul></section>\n";
}

// Scripts, frames, forms and whatever would be loaded are forbidden; the page's own style is not.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

// All but the downloads and the end.
std::string body_html(const Report& report, const Shown& shown) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style></head>\n<body><main>\n<h1>{}</h1>\n",
      kPolicy, html_sentence(report.title), kStyle, plots::chart_style(), html_sentence(report.title));
  html += html_answer(report) + html_advice(report);
  for (const ReportFleet& fleet : report.fleets) {
    html += html_fleet(fleet, shown);
  }
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    html += html_section(report.sections[i], i + 1, shown);
  }
  return html + html_environments(report);
}

}  // namespace

std::string report_html(const Report& report, const std::vector<ReportedResult>& results) {
  const std::string end = "</main></body></html>\n";
  const std::size_t limit = page_limit(results.size());
  std::string html;
  std::size_t used = 0;
  for (const Shown& shown : kShown) {
    html = body_html(report, shown);
    used = html.size() + end.size() + html_downloads({}).size();
    if (used + kAroundDownload * results.size() < limit) {
      break;
    }
  }
  return html + html_downloads(downloads_of(results, limit > used ? limit - used : 0)) + end;
}

}  // namespace bench::report
