#include "bench/report/report_page.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/advice_formats.h"
#include "bench/page/page.h"
#include "bench/report/download.h"

namespace bench::report {
namespace {

// How much of a result a page shows.
struct Extent {
  std::size_t charts;
  std::size_t chart_rows;  // of the table of a chart
  std::size_t rows;        // of the other tables
  std::size_t findings;    // beyond those that the run printed
  bool all_points = true;  // else where no chart's table tells them
};
// An HTML page that would pass its limit is written again with the next.
constexpr std::array<Extent, 4> kHtml{{{12, 100, 200, 60}, {12, 20, 20, 20}, {3, 0, 0, 0}, {0, 0, 0, 0}}};
constexpr Extent kMarkdown{.charts = 12, .chart_rows = 100, .rows = 100, .findings = 0, .all_points = false};

void add_rows(Page& page, std::string title, TextTable table, std::size_t most) {
  if (const std::size_t rows = table.rows.size(); rows > most + 1) {
    table.rows.resize(most + 1);
    table.below = fmt::format("The first {} of {} rows; the result file has all.", most, rows - 1);
  }
  table.title = std::move(title);
  page.table(std::move(table));
}

std::string title_of(const ReportFleet& fleet) {
  return fmt::format("{} machines: {}", fleet.machines, fleet.title);
}

std::string stored_id(std::size_t stored) {
  return fmt::format("s{}", stored + 1);
}

std::string fleet_id(std::size_t fleet) {
  return fmt::format("f{}", fleet + 1);
}

// What tells the machines of a fleet apart comes before what one of them says for all.
void add_answer(const Report& report, Page& page) {
  List answer{.numbered = true};
  for (std::size_t i = 0; i < report.fleets.size(); ++i) {
    const ReportFleet& fleet = report.fleets[i];
    answer.items.push_back({.text = fmt::format("{}", fmt::join(fleet.sentences, " ")),
                            .links = {{title_of(fleet), "#" + fleet_id(i)}}});
  }
  for (const ReportedFinding& finding : report.answer) {
    ListItem& item = answer.items.emplace_back(ListItem{.text = finding.claim});
    if (report.sections.size() + report.stored.size() > 1) {
      item.links.push_back(finding.is_stored ? PageLink{report.stored.at(finding.section).page.title,
                                                        "#" + stored_id(finding.section)}
                                             : PageLink{report.sections.at(finding.section).title,
                                                        fmt::format("#r{}", finding.section + 1)});
    }
  }
  page.say(answer.items.empty() ? "The results have no finding." : "");
  page.answer(std::move(answer), {.shown_by = "below"});
  page.say(report.no_advice, Tone::aside);
}

Page advice_section(const Advice& advice) {
  Page page = advice_page(advice);
  page.blocks.insert(page.blocks.begin(),
                     Paragraph{.text = std::exchange(page.title, "What to change"), .tone = Tone::aside});
  return page;
}

Page fleet_section(const ReportFleet& fleet, const std::string& id, const Extent& extent) {
  Page page{.title = title_of(fleet), .id = id};
  add_rows(page, "", fleet.points, extent.rows);
  return page;
}

void add_charts(const ReportSection& section, const Extent& extent, Page& page) {
  const std::size_t shown = std::min(section.charts.size(), extent.charts);
  for (std::size_t i = 0; i < shown; ++i) {
    page.blocks.emplace_back(Figure{section.charts[i], extent.chart_rows});
  }
  page.say(shown == section.charts.size()
               ? section.no_charts
               : fmt::format("{} more pictures have no room.", section.charts.size() - shown),
           Tone::aside);
}

void add_further_findings(const ReportSection& section, const Extent& extent, Page& page) {
  const std::size_t all = section.others.size();
  List list{.title = fmt::format("Further findings ({})", all), .folded = true};
  for (std::size_t i = 0; i < std::min(all, extent.findings); ++i) {
    list.items.push_back({.text = section.others[i]});
  }
  if (!list.items.empty() && list.items.size() < all) {
    list.items.push_back({.text = fmt::format("and {} more in the result file", all - list.items.size())});
  }
  page.list(std::move(list));
}

// `is_only`: its title and findings are the page's own.
Page result_section(const ReportSection& section, std::size_t number, bool is_only, const Extent& extent) {
  Page page{.title = is_only ? "" : section.title, .id = fmt::format("r{}", number)};
  page.say(section.question, Tone::aside);
  page.answer(is_only ? std::vector<std::string>{} : section.findings, {.shown_by = "in the result file"});
  page.say(section.findings.empty() ? "It has no finding." : "");
  page.warn(section.warnings, true);
  add_charts(section, extent, page);
  add_further_findings(section, extent, page);
  if (extent.all_points || section.charts.empty()) {
    add_rows(page, fmt::format("All points ({})", section.points.rows.size() - 1), section.points,
             extent.rows);
  }
  add_rows(page, section.predicted ? "Points without a prediction" : "Points that were not measured",
           section.unmeasured, extent.rows);
  page.blocks.emplace_back(
      FactList{section.predicted ? "How it was predicted" : "How it was measured", section.method});
  return page;
}

Page environment_section(const Report& report) {
  Page page{.title = "Environment"};
  for (const ReportEnvironment& environment : report.environments) {
    Paragraph sections;
    for (const std::size_t section : environment.sections) {
      sections.links.push_back({report.sections.at(section).title, fmt::format("#r{}", section + 1)});
    }
    if (report.environments.size() > 1) {
      page.blocks.emplace_back(std::move(sections));
    }
    page.blocks.emplace_back(FactList{"", environment.facts});
  }
  return page;
}

Page page_of(const Report& report, const Extent& extent) {
  if (report.sections.empty() && report.stored.size() == 1 && !report.advice) {
    return report.stored.front().page;  // its first sentences are the answer
  }
  Page page{.title = report.title};
  add_answer(report, page);
  for (std::size_t i = 0; i < report.stored.size(); ++i) {
    page.sections.push_back(report.stored[i].page);
    page.sections.back().id = stored_id(i);
  }
  if (report.advice) {
    page.sections.push_back(advice_section(*report.advice));
  }
  for (std::size_t i = 0; i < report.fleets.size(); ++i) {
    page.sections.push_back(fleet_section(report.fleets[i], fleet_id(i), extent));
  }
  for (std::size_t i = 0; i < report.sections.size(); ++i) {
    const bool is_only = report.sections.size() + report.stored.size() == 1;
    page.sections.push_back(result_section(report.sections[i], i + 1, is_only, extent));
  }
  if (!report.environments.empty()) {
    page.sections.push_back(environment_section(report));
  }
  return page;
}

Page downloads_section(const std::vector<Download>& downloads) {
  Page page{.title = "Results to download", .id = "data"};  // the id: not printed
  List list;
  for (const Download& download : downloads) {
    ListItem& item = list.items.emplace_back(ListItem{.text = "", .details = {download.extent}});
    if (download.href.empty()) {
      item.text = download.name;
    } else {
      item.links.push_back({download.name, download.href, true});
    }
  }
  page.list(std::move(list));
  return page;
}

}  // namespace

std::string report_html(const Report& report, const std::vector<ReportedResult>& results) {
  const std::size_t limit = page_limit(results.size() + report.stored.size());
  Page page;
  std::size_t used = 0;
  for (const Extent& extent : kHtml) {
    page = page_of(report, extent);
    page.sections.push_back(downloads_section({}));
    used = page_html(page).size();
    if (used + kAroundDownload * results.size() < limit) {
      break;
    }
  }
  page.sections.pop_back();
  if (!results.empty()) {
    page.sections.push_back(downloads_section(downloads_of(results, limit > used ? limit - used : 0)));
  }
  return page_html(page);
}

std::string report_markdown(const Report& report) {
  return page_markdown(page_of(report, kMarkdown), 1);
}

}  // namespace bench::report
