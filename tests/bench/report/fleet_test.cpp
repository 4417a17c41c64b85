// Several machines' results of one sweep as one table.
#include "bench/report/fleet.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "bench/report/report_page.h"
#include "tests/bench/support/cells.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"

namespace bench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two points of 10 and 20 ms, `factor` times as long; the second `second` times as long again.
ReportedResult result_on(const std::string& host, double factor, double second = 1) {
  ResultDocument document = bench::testing::sample_document();
  document.context.machine = "id of " + host;
  document.context.google_benchmark["host_name"] = host;
  document.points.clear();
  for (const int batch : {1, 2}) {
    Point point = bench::testing::sample_point(batch, 10'000'000);
    const double level = factor * (batch == 2 ? 2 * second : 1);
    point.samples_ns.assign(6, static_cast<std::int64_t>(1e7 * level));
    point.rounds = rounds_of({2, 2, 2});
    point.stats.median_ns = 1e7 * level;
    document.points.push_back(std::move(point));
  }
  Json json = to_json(document);
  return {.json = std::move(json), .document = std::move(document)};
}

// Five machines; the fourth is a tenth slower than the others, the third 2 % faster at its second point.
std::vector<ReportedResult> five_machines() {
  return {result_on("node1", 1), result_on("node2", 1.002), result_on("node3", 0.998, 0.98),
          result_on("node4", 1.1), result_on("node5", 1.001)};
}

TEST(ReportFleet, MachinesOfOneDeviceModelAreOneRowAPoint) {
  const std::vector<ReportFleet> fleets = fleets_of(five_machines());
  ASSERT_THAT(fleets, SizeIs(1));
  const ReportFleet& fleet = fleets.front();
  EXPECT_EQ(fleet.machines, 5U);
  ASSERT_THAT(fleet.points.rows, SizeIs(3));
  expect_words(texts_of(fleet.points.rows[1]));
  expect_words(texts_of(fleet.points.rows[2]));
}

TEST(ReportFleet, TheMachineThatIsUnlikeTheRestIsNamed) {
  EXPECT_THAT(
      fleets_of(five_machines()).front().sentences,
      ElementsAre(
          "The slowest machine takes 11 % longer than the fastest at the median point, 12 % longer than "
          "it at the point that differs most.",
          "node4 is unlike the other machines: it takes 9.9 % longer than the median machine."));
}

TEST(ReportFleet, OnlyResultsThatCanBeComparedAreAFleet) {
  EXPECT_THAT(fleets_of({result_on("node1", 1), result_on("node1", 1)}), IsEmpty()) << "one machine";
  ReportedResult other = result_on("node2", 1);
  other.document.context.device.name = "Other CPU";
  EXPECT_THAT(fleets_of({result_on("node1", 1), other}), IsEmpty()) << "another device";
  other = result_on("node2", 1);
  other.document.sweep.workload_options["image-size"] = "32";
  EXPECT_THAT(fleets_of({result_on("node1", 1), other}), IsEmpty()) << "another size";
  other = result_on("node2", 1);
  other.document.context.machine.clear();
  EXPECT_THAT(fleets_of({result_on("node1", 1), other}), IsEmpty()) << "version 1 of the file";
  EXPECT_THAT(fleets_of({result_on("node1", 1), result_on("node2", 1)}), SizeIs(1));
}

TEST(ReportFleet, BothPagesShowItBeforeTheResults) {
  std::vector<ReportedResult> results = five_machines();
  const Report report = report_of(results, std::nullopt);
  const std::string markdown = report_markdown(report);
  EXPECT_THAT(markdown, AllOf(HasSubstr("## 5 machines: batch: "), HasSubstr("it takes 9.9 %")));
  EXPECT_LT(markdown.find("## 5 machines"), markdown.find("## batch"));
  EXPECT_EQ(report.no_advice, "") << "the median machine's results are one of each sweep";
  for (const ReportedFinding& finding : report.answer) {
    EXPECT_EQ(finding.section, report.answer.front().section) << "one machine answers for all";
  }
  const std::string html = report_html(report, results);
  EXPECT_THAT(html, AllOf(HasSubstr("<h2>5 machines: batch: "), HasSubstr("it takes 9.9 %")));
}

}  // namespace
}  // namespace bench::report
