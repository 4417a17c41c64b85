// JUnit, workflow commands of GitHub Actions, and JSON.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/compare/formats.h"
#include "bench/compare/wording.h"
#include "bench/json.h"
#include "bench/page/csv.h"
#include "bench/result/result_json.h"
#include "bench/text/escape.h"

namespace bench {
namespace {

// A point, or the change that all share, as a case of a test report.
struct TestCase {
  std::string name;
  Verdict verdict = Verdict::same;
  std::string message;
};

std::vector<TestCase> cases_of(const Judgement& judgement, std::size_t suite) {
  std::vector<TestCase> cases;
  const JudgedSuite& judged = judgement.suites[suite];
  if (judged.common) {
    MetricChange common{.metric = Metric::time};
    common.estimate = static_cast<const ChangeEstimate&>(*judged.common);
    cases.push_back({.name = "all points together",
                     .verdict = judged.common_verdict,
                     .message = change_in_words(common) +
                                (judged.common_reason.empty() ? "" : "; " + judged.common_reason)});
  }
  for (const JudgedPoint& point : judgement.points) {
    if (point.suite == suite) {
      cases.push_back({.name = point.name, .verdict = point.verdict, .message = explanation(point)});
    }
  }
  return cases;
}

std::string junit_case(const TestCase& test, const std::string& suite, bool allow_inconclusive) {
  const std::string head =
      fmt::format(R"(    <testcase classname="{}" name="{}")", suite, xml_text(test.name));
  const std::string message = xml_text(test.message);
  if (is_regression(test.verdict)) {
    return fmt::format("{}>\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n", head,
                       name_of(test.verdict), message);
  }
  if (test.verdict == Verdict::inconclusive) {
    return fmt::format("{}>\n      <{} message=\"{}\"/>\n    </testcase>\n", head,
                       allow_inconclusive ? "skipped" : R"(error type="inconclusive")", message);
  }
  return fmt::format("{}>\n      <system-out>{}: {}</system-out>\n    </testcase>\n", head,
                     name_of(test.verdict), message);
}

// Notes on the whole comparison. JUnit has a place for them in a suite only.
std::string junit_notes(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    text += (text.empty() ? "" : "\n") + xml_text(note);
  }
  return text.empty() ? "" : fmt::format("    <system-out>{}</system-out>\n", text);
}

std::string command(std::string_view kind, const std::string& title, const std::string& message) {
  return fmt::format("::{} title={}::{}\n", kind, command_property(title), command_message(message, 2000));
}

template <class T>
Json nullable(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json estimate_json(const ChangeEstimate& estimate) {
  return {{"ratio", estimate.ratio.value},
          {"interval", interval_json(estimate.ratio.interval)},
          {"sure", estimate.ratio.differs_from_one()},
          {"smallest_change", nullable(estimate.smallest_change)},
          {"further_runs", nullable(estimate.further_runs)}};
}

Json change_json(const MetricChange& change) {
  const bool tested = change.metric == Metric::time || change.metric == Metric::stall;
  Json json{{"metric", name_of(change.metric)},
            {"verdict", name_of(change.verdict)},
            {"base", change.base},
            {"new", change.next}};
  if (tested) {
    json.update(estimate_json(change.estimate));
    if (!change.machines.empty()) {
      json["machines"] = Json::array();
      for (const double ratio : change.machines) {
        json["machines"].push_back(std::isnan(ratio) ? Json() : Json(ratio));
      }
    }
  }
  if (!change.reason.empty()) {
    json["reason"] = change.reason;
  }
  return json;
}

Json suite_json(const JudgedSuite& suite) {
  Json json{{"name", suite.name},
            {"device", suite.device},
            {"base_runs", suite.runs.base},
            {"new_runs", suite.runs.next},
            {"calibration", suite.calibration.empty() ? Json() : Json(suite.calibration)},
            {"machines", Json::array()},
            {"common", Json()}};
  for (const JudgedMachine& machine : suite.machines) {
    json["machines"].push_back(
        {{"name", machine.name}, {"ratio", nullable(machine.ratio)}, {"outlier", machine.outlier}});
  }
  if (suite.common) {
    json["common"] = estimate_json(*suite.common);
    json["common"]["verdict"] = name_of(suite.common_verdict);
    json["common"]["reason"] = suite.common_reason;
    json["common"]["share_taken_out"] = suite.common_share;
    json["common"]["adjusted_interval"] = interval_json(suite.common->adjusted);
    json["common"]["calibration_ratio"] = nullable(suite.common->calibration_ratio);
  }
  return json;
}

}  // namespace

std::string as_junit(const Judgement& judgement) {
  const bool allowed = judgement.settings.allow_inconclusive;
  std::string body;
  std::size_t all = 0;
  std::size_t all_failures = 0;
  std::size_t all_errors = 0;
  for (std::size_t i = 0; i < judgement.suites.size(); ++i) {
    const std::vector<TestCase> cases = cases_of(judgement, i);
    const auto failures = static_cast<std::size_t>(
        std::ranges::count_if(cases, [](const TestCase& test) { return is_regression(test.verdict); }));
    const auto inconclusive =
        static_cast<std::size_t>(std::ranges::count(cases, Verdict::inconclusive, &TestCase::verdict));
    const std::string name = xml_text(judgement.suites[i].name);
    body +=
        fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
                    name, cases.size(), failures, allowed ? 0 : inconclusive, allowed ? inconclusive : 0);
    for (const TestCase& test : cases) {
      body += junit_case(test, name, allowed);
    }
    body += (i == 0 ? junit_notes(judgement.notes) : "") + "  </testsuite>\n";
    all += cases.size();
    all_failures += failures;
    all_errors += allowed ? 0 : inconclusive;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"bench compare\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
      all, all_failures, all_errors, body);
}

std::string as_github(const Judgement& judgement, bool verbose) {
  constexpr std::size_t kMostOfAKind = 9;  // GitHub shows ten of a step
  const PointNames names(judgement, kLongestText);
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const JudgedPoint& point : judgement.points) {
    const std::string message = fmt::format("{}: {}", names.of(point), explanation(point));
    if (is_regression(point.verdict)) {
      text += ++errors <= kMostOfAKind || verbose
                  ? command("error", fmt::format("bench: {}", name_of(point.verdict)), message)
                  : "";
    } else if (point.verdict == Verdict::inconclusive) {
      text += ++warnings <= kMostOfAKind || verbose ? command("warning", "bench: inconclusive", message) : "";
    }
  }
  const char* const kind = judgement.code == ExitCode::regression ? "error"
                           : judgement.settled()                  ? "notice"
                                                                  : "warning";
  std::string whole = subject_in_words(judgement) + ".";
  for (const std::string& line : headlines(judgement)) {
    whole += fmt::format(" {}.", line);
  }
  for (const std::string& note : judgement.notes) {
    text += command("notice", "bench compare", note);
  }
  return command(kind, fmt::format("bench compare: {}", outcome(judgement)), whole) + text;
}

std::string as_csv(const Judgement& judgement) {
  std::vector<Cells> rows{
      {"suite", "point", "verdict", "metric", "base", "new", "ratio", "ratio_low", "ratio_high", "reason"}};
  for (const JudgedPoint& point : judgement.points) {
    const std::string& suite = judgement.suites[point.suite].name;
    for (const MetricChange& change : point.changes) {
      Cells row{suite,
                point.name,
                name_of(change.verdict),
                name_of(change.metric),
                csv_number(change.base),
                csv_number(change.next),
                "",
                "",
                "",
                change.reason};
      if (change.metric == Metric::time || change.metric == Metric::stall) {
        row[6] = csv_number(change.estimate.ratio.value);
        row[7] = csv_low(change.estimate.ratio.interval);
        row[8] = csv_high(change.estimate.ratio.interval);
      }
      rows.push_back(std::move(row));
    }
    if (point.changes.empty()) {
      rows.push_back({suite, point.name, name_of(point.verdict), "", "", "", "", "", "", point.reason});
    }
  }
  return csv_table(rows);
}

std::string as_json(const Judgement& judgement) {
  Json json{{"schema", "bench-compare/1"},
            {"outcome", outcome(judgement)},
            {"exit_code", static_cast<int>(judgement.code)},
            {"alpha", judgement.settings.alpha},
            {"thresholds", Json::object()},
            {"base", judgement.files.base},
            {"new", judgement.files.next},
            {"counts", Json::object()},
            {"inconclusive_share", judgement.inconclusive_share()},
            {"smallest_change", nullable(judgement.smallest_change)},
            {"further_runs", nullable(judgement.further_runs)},
            {"headlines", headlines(judgement)},
            {"suites", Json::array()},
            {"differences", Json::array()},
            {"notes", judgement.notes},
            {"points", Json::array()}};
  for (const auto& [metric, threshold] : judgement.settings.thresholds) {
    json["thresholds"][std::string(name_of(metric))] = threshold;
  }
  for (const Verdict verdict : kVerdicts) {
    json["counts"][std::string(name_of(verdict))] = judgement.count(verdict);
  }
  for (const JudgedSuite& suite : judgement.suites) {
    json["suites"].push_back(suite_json(suite));
  }
  for (const Difference& difference : judgement.differences) {
    json["differences"].push_back(
        {{"what", difference.what}, {"base", difference.base}, {"new", difference.next}});
  }
  for (const JudgedPoint& point : judgement.points) {
    Json entry{{"name", point.name},
               {"suite", judgement.suites[point.suite].name},
               {"verdict", name_of(point.verdict)},
               {"reason", point.reason},
               {"samples_per_step", point.items_per_step},
               {"changes", Json::array()}};
    for (const MetricChange& change : point.changes) {
      entry["changes"].push_back(change_json(change));
    }
    json["points"].push_back(std::move(entry));
  }
  return to_indented_text(json);
}

}  // namespace bench
