#include "bench/report/report.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/results_advice.h"
#include "bench/cli/report.h"
#include "bench/cli/table.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/report/fleet.h"
#include "bench/report/sweep_report.h"
#include "bench/result/finding.h"
#include "bench/result/fleet.h"
#include "bench/result/shared_cores.h"

namespace bench::report {
namespace {

// Of a sweep whose points have a mode, all the same.
std::string mode_in_words(const ResultDocument& document) {
  const std::string& mode = document.sweep.mode;
  const auto has_it = [&](const auto& point) {
    return point.params.is_object() && point.params.contains("mode") && point.params["mode"] == mode;
  };
  const bool holds = std::ranges::all_of(document.points, has_it);
  return !holds ? "" : mode == "infer" ? " inference" : mode == "train" ? " training" : "";
}

// More would be read by nobody, and a page has its limit.
constexpr std::size_t kMostCharts = 12;

void add_charts(ResultDocument& document, const SweepReport* shown, ReportSection& section) {
  if (shown == nullptr || shown->charts == nullptr) {
    section.no_charts = "This program has no picture for this sweep.";
    return;
  }
  try {
    section.charts = shown->charts(document);
  } catch (const UsageError& error) {
    section.no_charts = fmt::format("No picture: {}.", error.what());
  } catch (const Json::exception&) {
    section.no_charts =
        "No picture: a point's params or the sweep's own figures are not as this program writes them.";
  }
  std::erase_if(section.charts, plots::is_empty);
  section.charts.resize(std::min(section.charts.size(), kMostCharts));
  for (plots::Chart& chart : section.charts) {
    chart.predicted = section.predicted;
  }
  if (section.charts.empty() && section.no_charts.empty()) {
    section.no_charts = "No picture: the result has no point that could be drawn.";
  }
}

// Headlines where the sweep tells them, else the first five.
void choose_headlines(ResultDocument& document, const SweepReport* shown) {
  std::vector<Finding>& findings = document.findings;
  try {
    if (shown != nullptr && shown->choose_headlines != nullptr) {
      shown->choose_headlines(document);
    }
  } catch (const UsageError&) {  // not as the sweep writes them
  } catch (const Json::exception&) {
  }
  if (std::ranges::none_of(findings, [](const Finding& finding) { return finding.headline > 0; })) {
    for (std::size_t i = 0; i < findings.size() && i < kHeadlines; ++i) {
      findings[i].headline = static_cast<int>(i) + 1;
    }
  }
}

bool recommends(const Finding& finding, const ResultDocument& document) {
  const SweepReport* const shown = registry<SweepReport>().find(document.sweep.name);
  return shown != nullptr && finding.name == shown->recommendation;
}

// The results that the report answers from: all, or of a fleet those of the median machine.
struct AnsweringFiles {
  std::vector<EvaluatedFile> files;
  std::vector<std::string> machines;  // sentences on the fleet; empty: there is none
  std::string problem;                // why there is no median machine to answer from

  explicit AnsweringFiles(const std::vector<ReportedResult>& results) {
    for (const ReportedResult& result : results) {
      files.push_back({.path = file_name_of(result.document), .document = result.document});
    }
    try {
      machines = keep_median_machine(files);
    } catch (const UsageError& error) {
      problem = error.what();
    }
  }
  bool hold(const ResultDocument& document) const {
    return machines.empty() || std::ranges::any_of(files, [&](const EvaluatedFile& file) {
             return file.document.sweep.name == document.sweep.name &&
                    file.document.context.machine == document.context.machine;
           });
  }
};

// By their place among the headlines of their own run, and of one place recommendations first. Where the
// ranks ran comes last.
void choose_answer(const std::vector<ReportedResult>& results, const AnsweringFiles& answering,
                   Report& report) {
  struct Candidate {
    const Finding* finding = nullptr;
    std::size_t section = 0;
  };
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!answering.hold(results[i].document)) {
      continue;
    }
    for (const Finding* finding : printed_findings(results[i].document, false)) {
      candidates.push_back({finding, i});
    }
  }
  std::ranges::stable_sort(candidates, {}, [&](const Candidate& candidate) {
    return std::tuple(candidate.finding->name == kRanksFinding, candidate.finding->headline,
                      !recommends(*candidate.finding, results[candidate.section].document));
  });
  for (std::size_t i = 0; i < report.stored.size() && report.answer.size() < kHeadlines; ++i) {
    if (!report.stored[i].claim.empty()) {
      report.answer.push_back({.claim = report.stored[i].claim, .section = i, .is_stored = true});
    }
  }
  candidates.resize(std::min<std::size_t>(candidates.size(), kHeadlines - report.answer.size()));
  for (const Candidate& candidate : candidates) {
    report.answer.push_back({.claim = candidate.finding->claim, .section = candidate.section});
  }
}

// "Intel Xeon, t4 (predicted)": three by name.
std::string devices_in_words(const std::vector<ReportedResult>& results) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> names;
  for (const ReportedResult& result : results) {
    std::string name =
        result.document.context.device.name + (is_predicted(result.document) ? " (predicted)" : "");
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  if (names.size() > kMostNamed) {
    return fmt::format("{} devices", names.size());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string title_of_page(const std::vector<ReportedResult>& results, const Report& report) {
  if (report.sections.size() + report.stored.size() == 1) {
    return results.empty() ? report.stored.front().page.title : report.sections.front().title;
  }
  std::size_t machines = 0;
  for (const ReportFleet& fleet : report.fleets) {
    machines = std::max(machines, fleet.machines);
  }
  return report.stored.empty()
             ? fmt::format("{} results of bench: {}{}", results.size(), devices_in_words(results),
                           machines == 0 ? "" : fmt::format(" of {} machines", machines))
             : fmt::format("{} results and answers of bench", results.size() + report.stored.size());
}

// Sections of one title are told apart by their machines, those of one machine by numbers.
void tell_apart(const std::vector<ReportedResult>& results, std::vector<ReportSection>& sections) {
  std::map<std::string, std::set<std::string>> machines;  // by title
  std::vector<const RunContext*> contexts;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    contexts.push_back(&results[i].document.context);
    machines[sections[i].title].insert(contexts[i]->machine);
  }
  const std::map<std::string, std::string> names = machine_names(contexts);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    ReportSection& section = sections[i];
    const auto name = names.find(contexts[i]->machine);
    if (name != names.end() && machines.at(section.title).size() > 1) {
      section.title += ", " + name->second;
    }
    const std::string title = section.title;
    for (int number = 2; !seen.insert(section.title).second; ++number) {
      section.title = fmt::format("{} ({})", title, number);
    }
  }
}

void add_advice(const AnsweringFiles& answering, const std::optional<TrainingSettings>& current,
                Report& report) {
  try {
    if (!answering.problem.empty()) {
      throw UsageError(answering.problem);
    }
    report.advice = advice_from(StepModel(answering.files), current.value_or(TrainingSettings{}));
    report.advice->warnings.insert(report.advice->warnings.end(), answering.machines.begin(),
                                   answering.machines.end());
  } catch (const UsageError& error) {
    if (current) {
      throw;
    }
    report.no_advice = answering.files.size() > 1 ? fmt::format("No advice: {}.", error.what()) : "";
    return;
  }
  if (!current) {
    report.advice->warnings.emplace_back(
        "The settings are PyTorch's defaults: 0 workers, pageable memory; bench report --current gives "
        "others.");
  }
}

}  // namespace

std::string title_of(const ResultDocument& document) {
  const SweepDescription& sweep = document.sweep;
  return fmt::format("{}{}: {}{} on {}", is_predicted(document) ? "Predicted, " : "", sweep.name,
                     sweep.workload, mode_in_words(document), document.context.device.name);
}

ReportSection section_of(ResultDocument& document) {
  const SweepReport* const shown = registry<SweepReport>().find(document.sweep.name);
  ReportSection section{.title = title_of(document),
                        .question = document.sweep.question,
                        .predicted = is_predicted(document),
                        .findings = {},
                        .others = {},
                        .charts = {},
                        .no_charts = "",
                        .points = points_table(document),
                        .unmeasured = unmeasured_table(document),
                        .warnings = warnings_of(document),
                        .method = method_of(document)};
  choose_headlines(document, shown);
  for (const Finding* finding : printed_findings(document, true)) {
    (finding->headline > 0 ? section.findings : section.others).push_back(finding->claim);
  }
  add_charts(document, shown, section);
  return section;
}

Report report_of(std::vector<ReportedResult>& results, const std::optional<TrainingSettings>& current,
                 std::vector<StoredAnswer> stored) {
  Report report;
  report.stored = std::move(stored);
  for (ReportedResult& result : results) {
    report.sections.push_back(section_of(result.document));
    Facts facts = environment_of(result.document);
    auto same = std::ranges::find(report.environments, facts, &ReportEnvironment::facts);
    if (same == report.environments.end()) {
      same = report.environments.insert(same, {.sections = {}, .facts = std::move(facts)});
    }
    same->sections.push_back(report.sections.size() - 1);
  }
  tell_apart(results, report.sections);
  report.fleets = fleets_of(results);
  const AnsweringFiles answering(results);
  choose_answer(results, answering, report);
  if (!results.empty() || current) {
    add_advice(answering, current, report);
  }
  report.title = title_of_page(results, report);
  return report;
}

std::string file_name_of(const ResultDocument& document) {
  std::string name =
      fmt::format("{}-{}-{}", document.sweep.name, document.sweep.workload, document.context.device.id);
  std::ranges::replace_if(
      name,
      [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '.' && c != '-'); },
      '-');
  constexpr std::size_t kLongest = 100;
  return name.substr(0, kLongest) + (is_predicted(document) ? "-predicted.json" : ".json");
}

}  // namespace bench::report
