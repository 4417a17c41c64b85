// A report of results: what they answer. report_page.h makes a page of it, json.h data.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/json.h"
#include "bench/report/stored_answer.h"
#include "bench/result/result.h"
#include "plots/chart.h"

namespace bench::report {

// A result as it was read.
struct ReportedResult {
  Json json;
  ResultDocument document;
};

struct ReportedFinding {
  std::string claim;
  std::size_t section = 0;  // of the result that it comes from, or of the stored answer
  bool is_stored = false;
};

// One result.
struct ReportSection {
  std::string title;     // "batch: resnet50 inference on AMD EPYC"
  std::string question;  // the sweep's
  bool predicted = false;
  std::vector<std::string> findings;  // claims that the run printed, in its order
  std::vector<std::string> others;    // all other claims
  std::vector<plots::Chart> charts;
  std::string no_charts;  // why there are none
  TextTable points;
  TextTable unmeasured;
  std::vector<Warning> warnings;
  Facts method;  // how it was measured, or predicted
};

// Machines and programs that several results may share.
struct ReportEnvironment {
  std::vector<std::size_t> sections;
  Facts facts;
};

// Several machines with one model of device, in one sweep of one workload.
struct ReportFleet {
  std::string title;  // as of a section
  std::size_t machines = 0;
  std::vector<std::string> sentences;
  TextTable points;  // a row a point, the widest spread first
};

struct Report {
  std::string title;
  std::vector<ReportedFinding>
      answer;  // at most five: of stored answers, then of results, recommendations first
  std::optional<Advice> advice;
  std::string no_advice;  // why several results give none; empty: they do, or there is one
  std::vector<StoredAnswer> stored;
  std::vector<ReportFleet> fleets;
  std::vector<ReportSection> sections;
  std::vector<ReportEnvironment> environments;
};

// "batch: resnet50 inference on AMD EPYC".
std::string title_of(const ResultDocument& document);

// Reads points' params in place.
ReportSection section_of(ResultDocument& document);

// Sections in the order of the results. Reads points' params in place. `current`: how the user trains; none:
// PyTorch's defaults, and no error where the results allow no advice. Throws UsageError where `current` is
// given and they do not.
Report report_of(std::vector<ReportedResult>& results, const std::optional<TrainingSettings>& current,
                 std::vector<StoredAnswer> stored = {});

// "<sweep>-<workload>-<device>.json", and "…-predicted.json": a name for a file that is safe in any system.
std::string file_name_of(const ResultDocument& document);

// "cpu" and the like: what a result's environment and method say, one fact a line.
Facts environment_of(const ResultDocument& document);
Facts method_of(const ResultDocument& document);

}  // namespace bench::report
