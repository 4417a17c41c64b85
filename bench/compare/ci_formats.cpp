// JUnit, workflow commands of GitHub Actions, and JSON.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/compare/formats.h"
#include "bench/compare/wording.h"
#include "bench/json.h"
#include "bench/page/csv.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/text/escape.h"

namespace bench {

void read_value(const Field& field, Metric& metric) {
  read_named(field, metric, kMetrics);
}

void read_value(const Field& field, Verdict& verdict) {
  read_named(field, verdict, kVerdicts);
}

void members(auto& io, Of<ChangeEstimate> auto& estimate) {
  io("ratio", estimate.ratio.value);
  io.interval("interval", estimate.ratio.interval);
  io.derived("sure", estimate.ratio.differs_from_one());
  io.nullable("smallest_change", estimate.smallest_change);
  io.nullable("further_runs", estimate.further_runs);
}

void members(auto& io, Of<MetricChange> auto& change) {
  io("metric", change.metric);
  io("verdict", change.verdict);
  io("base", change.base);
  io("new", change.next);
  if (is_tested(change.metric)) {
    members(io, change.estimate);
    if (!change.machines.empty()) {
      io.derived("machines", change.machines);  // null in place of NaN
    }
  }
  io.unless_empty("reason", change.reason);
}

void members(auto& io, Of<JudgedMachine> auto& machine) {
  io("name", machine.name);
  io.nullable("ratio", machine.ratio);
  io("outlier", machine.outlier);
}

void members(auto& io, Of<JudgedSuite> auto& suite) {
  io("name", suite.name);
  io("device", suite.device);
  io("base_runs", suite.runs.base);
  io("new_runs", suite.runs.next);
  io.null_if_empty("calibration", suite.calibration);
  io.maybe("machines", suite.machines);
  io.derived("common", nullptr);
  if (suite.common) {
    io.object("common", [&](JsonWriter& common) {
      members(common, static_cast<const ChangeEstimate&>(*suite.common));
      common("verdict", suite.common_verdict);
      common("reason", suite.common_reason);
      common("share_taken_out", suite.common_share);
      common.interval("adjusted_interval", suite.common->adjusted);
      common.nullable("calibration_ratio", suite.common->calibration_ratio);
    });
  }
}

void members(auto& io, Of<Difference> auto& difference) {
  io("what", difference.what);
  io("base", difference.base);
  io("new", difference.next);
}

void members(auto& io, Of<ComparisonDocument::Point> auto& point) {
  io("name", point.name);
  io("suite", point.suite_name);
  io("verdict", point.verdict);
  io("reason", point.reason);
  io("samples_per_step", point.items_per_step);
  io("changes", point.changes);
}

void members(auto& io, Of<ComparisonDocument> auto& document) {
  auto& judgement = document.judgement;
  std::map<Verdict, std::size_t> counts;
  for (const Verdict verdict : kVerdicts) {
    counts[verdict] = judgement.count(verdict);
  }
  io.derived("schema", "bench-compare/1");
  io("outcome", document.outcome);
  io.derived("exit_code", static_cast<int>(judgement.code));
  io("alpha", judgement.settings.alpha);
  io.derived("thresholds", judgement.settings.thresholds);
  io("base", judgement.files.base);
  io("new", judgement.files.next);
  io.derived("counts", counts);
  io.derived("inconclusive_share", judgement.inconclusive_share());
  io.nullable("smallest_change", judgement.smallest_change);
  io.nullable("further_runs", judgement.further_runs);
  io("headlines", document.headlines);
  io("suites", judgement.suites);
  io("differences", judgement.differences);
  io("notes", judgement.notes);
  io("points", document.points);
}

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
  std::string whole;
  for (const std::string& line : headlines(judgement)) {
    whole += line + ". ";
  }
  whole += subject_in_words(judgement) + ".";
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
      if (is_tested(change.metric)) {
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

ComparisonDocument read_comparison(const Field& root) {
  return read_struct<ComparisonDocument>(root);
}

std::string as_json(const Judgement& judgement) {
  ComparisonDocument document{
      .judgement = judgement, .outcome = outcome(judgement), .headlines = headlines(judgement)};
  for (const JudgedPoint& point : judgement.points) {
    document.points.push_back({point, judgement.suites[point.suite].name});
  }
  return to_indented_text(write_struct(document));
}

}  // namespace bench
