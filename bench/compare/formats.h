// A judgement as text for a terminal, a pull request, a CI system, or a program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/compare/judgement.h"
#include "bench/result/result_json.h"

namespace bench {

inline constexpr std::size_t kRows = 5;  // of points, where not all are asked for

// Findings, table and warnings; `verbose`: every point.
std::string as_table(const Judgement& judgement, std::size_t width, bool verbose);
// GitHub's and GitLab's, for a comment or a job's summary. Names are shown as they are: nothing in them is
// markup, a link or a mention.
std::string as_markdown(const Judgement& judgement, bool verbose);
// A test case a point, and one for what all share.
std::string as_junit(const Judgement& judgement);
// Workflow commands of GitHub Actions: errors, warnings, and a notice of the outcome.
std::string as_github(const Judgement& judgement, bool verbose);
// A line for each metric of each point.
std::string as_csv(const Judgement& judgement);
// {"schema": "bench-compare/1", …}: see results/compare-schema.json.
std::string as_json(const Judgement& judgement);

// What as_json() writes.
struct ComparisonDocument {
  struct Point : JudgedPoint {
    std::string suite_name{};
  };
  Judgement judgement{};  // read: without what follows from its other members, and its points are below
  std::string outcome{};
  std::vector<std::string> headlines{};
  std::vector<Point> points{};
};
// Throws UsageError.
ComparisonDocument read_comparison(const Field& root);

}  // namespace bench
