// What the transfer sweep says of its copies, and its tables, on a made-up machine.
#include "sweeps/transfer/findings.h"

#include <gmock/gmock.h>

#include "sweeps/transfer/tables.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TransferFindings, ModelsStandBesideTheBus) {
  const Finding model = transfer_finding(transfer_card(), "model/h2d/pinned");
  EXPECT_NEAR(*model.value, 25e9, 1e3);
  EXPECT_THAT(model.claim, AllOf(HasSubstr("10.0 µs (10.0 µs to 10.0 µs) + bytes / 25.0 GB/s (25.0 GB/s to"),
                                 HasSubstr("79 % of what the bus"), HasSubstr("244 KiB reach half")));
  const Finding both = transfer_finding(transfer_card(), "model/both/pinned");
  EXPECT_NEAR(*both.value, 45e9, 1e3);
  const Finding error = transfer_finding(transfer_card(), "model_error");
  EXPECT_NEAR(error.value.value_or(1), 0, 1e-9);
  ASSERT_TRUE(error.ci95);  // five sizes held out of each of five series one way
  EXPECT_NEAR(error.ci95->high, 0, 1e-9);
  EXPECT_EQ(error.evidence.size(), 25U);
  EXPECT_THAT(error.evidence, Contains("transfer/h2d/pinned/touched/1/4096"));
  EXPECT_THAT(error.evidence, Not(Contains(HasSubstr("/both/"))));
  EXPECT_THAT(transfer_finding(transfer_card(), "bus").claim,
              AllOf(HasSubstr("PCIe generation 4 with 16 lanes"), HasSubstr("31.5 GB/s")));
  ResultDocument misread = transfer_card();
  for (MeasuredPoint& point : misread.benchmarks) {
    point.stats.median_ns /= 2;
  }
  EXPECT_FALSE(transfer_finding(misread, "bus").value);
  EXPECT_THAT(transfer_finding(misread, "bus").claim, HasSubstr("which no copy can be"));
  ResultDocument host = transfer_card();
  host.sweep["transfer"]["crosses_bus"] = false;
  EXPECT_THAT(transfer_finding(host, "bus").claim, HasSubstr("No bus was crossed"));
  EXPECT_THAT(transfer_finding(host, "model/h2d/pinned").claim, Not(HasSubstr("bus")));
}

TEST(TransferFindings, CrossoversNameTheSize) {
  const Finding pinned = transfer_finding(transfer_card(), "crossover/h2d/pinned");
  EXPECT_EQ(pinned.value, 64 * 1024);  // the models meet at 39.5 kB; 64 KiB is the next size measured
  EXPECT_NEAR(pinned.details.at("models_cross_at_bytes").get<double>(), 5000 / (1 / 6.0 - 1 / 25.0), 1);
  EXPECT_THAT(pinned.claim, AllOf(HasSubstr("from 64.0 KiB on"), HasSubstr("at 1.00 GiB")));
  // Where they meet below the smallest size measured, nothing was seen of it.
  ResultDocument large = transfer_card();
  std::erase_if(large.benchmarks,
                [](const MeasuredPoint& point) { return point.params.value("bytes", 0.0) < 65536; });
  EXPECT_FALSE(transfer_finding(large, "crossover/h2d/pinned").details.contains("models_cross_at_bytes"));
  EXPECT_EQ(transfer_finding(transfer_card(), "crossover/h2d/staged").value, 1024 * 1024);
}

TEST(TransferFindings, SeveralAtOnceAndColdPages) {
  EXPECT_NEAR(*transfer_finding(transfer_card(), "at_once/h2d/pinned/in-flight:8").value, 1, 0.01);
  const Finding both = transfer_finding(transfer_card(), "at_once/both/pinned");
  EXPECT_NEAR(*both.value, 45.0 / 25, 0.01);
  ASSERT_TRUE(both.ci95);  // both times at their ends, 1 % each
  EXPECT_NEAR(both.ci95->low, *both.value * 0.99 / 1.01, 1e-9);
  EXPECT_NEAR(both.ci95->high, *both.value * 1.01 / 0.99, 1e-9);
  EXPECT_TRUE(transfer_finding(transfer_card(), "cold_pages/d2h/pageable/pages:cold").ci95);
  EXPECT_NEAR(*transfer_finding(transfer_card(), "cold_pages/d2h/pageable/pages:cold").value, 2.5, 0.01);
  EXPECT_THAT(transfer_finding(transfer_card(), "cold_pages/d2h/pageable/pages:cold").claim,
              HasSubstr("; at smaller sizes 1.06 to 2.50 times."));
}

TEST(TransferFindings, WhatWasNeverComparedHasNoCrossover) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  for (MeasuredPoint& point : document.benchmarks) {
    point.params["bytes"] = point.params["bytes"].get<std::int64_t>() + 1;
  }
  add_copies(document, "h2d", "pageable", 1000, 10e9);
  for (const Finding& finding : transfer_findings(document)) {
    EXPECT_FALSE(finding.name.starts_with("crossover/")) << finding.claim;
  }
}

// Twice as fast beyond 2 MiB.
TEST(TransferFindings, ABentCurveIsDescribedInPieces) {
  ResultDocument document;
  add_copies(document, "both", "pinned", 1000, 10e9);
  for (MeasuredPoint& point : document.benchmarks) {
    const double more = point.params["bytes"].get<double>() - (2 << 20);
    point.stats.median_ns -= std::max(0.0, more) / 10;
  }
  const Finding model = transfer_finding(document, "model/both/pinned");
  ASSERT_EQ(model.details.at("pieces").size(), 2U);
  EXPECT_NEAR(model.details.at("pieces")[0].at("bytes_per_s").get<double>(), 5e9, 1e5);
  EXPECT_NEAR(model.details.at("pieces")[1].at("bytes_per_s").get<double>(), 10e9, 1e5);
  EXPECT_FALSE(model.details.at("pieces")[1].contains("to_bytes"));
  // What stands in front is the curve's: its start, its end, and half of the end's rate on the way there. A
  // byte each way: 2 MiB take 1 µs + 2 · 2 MiB / 10 GB/s, and from there on 10 GB/s one way, to which the
  // line back from there has latency 1 µs + 2 MiB / 10 GB/s.
  EXPECT_NEAR(model.details.at("latency_ns").get<double>(), 1000, 1);
  EXPECT_NEAR(model.details.at("bytes_per_s").get<double>(), 10e9, 1e5);
  EXPECT_NEAR(*model.value, 20e9, 2e5);
  ASSERT_TRUE(model.ci95);
  EXPECT_LT(model.ci95->high, 21e9);
  EXPECT_NEAR(model.details.at("half_bytes").get<double>(), 10'000 + (2 << 20), 500);
  EXPECT_LT(model.details.at("straight").at("bytes_per_s").get<double>(), 9.9e9);
  EXPECT_FALSE(model.details.contains("r_squared"));
  EXPECT_THAT(model.claim,
              AllOf(HasSubstr("has a latency of 1.00 µs ("),
                    HasSubstr("at the largest sizes a bandwidth of 10.0 GB/s ("),
                    HasSubstr("2.01 MiB reach half of that rate (fitted to 11 sizes); in pieces")));
  EXPECT_THAT(
      model.claim,
      HasSubstr("in pieces it grows by bytes / 5.00 GB/s up to 2.00 MiB, by bytes / 10.0 GB/s beyond"));
  const Finding error = transfer_finding(document, "model_error");  // only both ways were measured
  EXPECT_THAT(error.claim, HasSubstr("copies both ways at once predict the 5 others"));
  EXPECT_LT(*error.value, error.details.at("straight").get<double>());
}

// A card whose copies take 8 µs up to 96,000 bytes, then 12 GB/s.
TEST(TransferFindings, AFlatStartHasNoRate) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 0, 12e9);
  for (MeasuredPoint& point : document.benchmarks) {
    point.stats.median_ns = std::max(8000.0, point.stats.median_ns);
  }
  const Finding model = transfer_finding(document, "model/h2d/pinned");
  ASSERT_EQ(model.details.at("pieces").size(), 2U);
  EXPECT_FALSE(model.details.at("pieces")[0].contains("bytes_per_s"));
  EXPECT_NEAR(model.details.at("pieces")[0].at("ns_per_byte").get<double>(), 0, 1e-6);
  EXPECT_NEAR(model.details.at("half_bytes").get<double>(), 48'000, 50);
  EXPECT_THAT(
      model.claim,
      AllOf(HasSubstr("has a latency of 8.00 µs"),
            HasSubstr("in pieces it hardly changes up to 93.8 KiB, grows by bytes / 12.0 GB/s beyond")));
}

TEST(TransferFindings, AFlatEndHasNoBandwidth) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  for (MeasuredPoint& point : document.benchmarks) {
    point.stats.median_ns = std::min(1e6, point.stats.median_ns);
  }
  const Finding model = transfer_finding(document, "model/h2d/pinned");
  EXPECT_FALSE(model.value);
  EXPECT_FALSE(model.details.contains("bytes_per_s"));
  EXPECT_THAT(model.claim, AllOf(HasSubstr("and hardly changes from "), HasSubstr("hardly changes beyond"),
                                 Not(HasSubstr("half"))));
}

TEST(TransferFindings, ASizeThatStandsThereTwiceEndsNothing) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  document.benchmarks.push_back(document.benchmarks.front());
  for (const Finding& finding : transfer_findings(document)) {
    EXPECT_FALSE(finding.name.starts_with("model")) << finding.claim;
  }
}

// 20 µs more from 64 KiB on, which no bandwidth describes.
TEST(TransferFindings, AStepFromOneSizeToTheNextIsToldAsTime) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  for (MeasuredPoint& point : document.benchmarks) {
    point.stats.median_ns += point.params["bytes"].get<std::int64_t>() >= 64 << 10 ? 20'000 : 0;
  }
  const Finding model = transfer_finding(document, "model/h2d/pinned");
  ASSERT_EQ(model.details.at("pieces").size(), 3U);
  EXPECT_THAT(model.claim,
              HasSubstr("up to 16.0 KiB, by 24.9 µs up to 64.0 KiB, by bytes / 10.0 GB/s beyond"));
}

TEST(TransferFindings, CopesWithLittle) {
  EXPECT_EQ(transfer_findings({}).size(), 1U);  // that no bus was crossed
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 10, 1e9);
  document.benchmarks.resize(2);
  EXPECT_FALSE(transfer_findings(document).empty());
  EXPECT_EQ(transfer_tables(document).size(), 1U);
  EXPECT_TRUE(transfer_tables({}).empty());
}

TEST(TransferTables, HaveARowASize) {
  const auto tables = transfer_tables(transfer_card());
  ASSERT_EQ(tables.size(), 6U);  // three directions, the others, pinning, steps
  EXPECT_THAT(tables[0].rows[0], ElementsAre("bytes", "pinned", "pageable", "staged"));
  EXPECT_EQ(tables[0].rows.size(), 12U);
  EXPECT_TRUE(tables[0].lists_points);
  EXPECT_THAT(tables[5].rows[3], Contains("pinned"));
}

}  // namespace
}  // namespace bench::sweeps
