// Findings and tables of the transfer sweep's copies, on a made-up machine.
#include "sweeps/transfer/answer.h"

#include <gmock/gmock.h>

#include "bench/page/page.h"
#include "tests/bench/support/cells.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(TransferFindings, ModelsAreComparedWithTheBus) {
  const Finding model = transfer_finding(transfer_card(), "model/h2d/pinned");
  EXPECT_NEAR(*model.value, 25e9, 1e3);
  EXPECT_NEAR(model.details.at("half_bytes").get<double>(), 250'000, 1);  // 10 µs of 25 GB/s
  expect_words(model.claim);
  const Finding both = transfer_finding(transfer_card(), "model/both/pinned");
  EXPECT_NEAR(*both.value, 45e9, 1e3);
  EXPECT_EQ(both.details.at("moved_per_byte"), 2);
  expect_words(transfer_finding(transfer_card(), "bus").claim);
  TransferMachine misread = transfer_card();
  for (Point& point : misread.document.points) {
    point.stats.median_ns /= 2;
  }
  EXPECT_FALSE(transfer_finding(misread, "bus").value);
  expect_words(transfer_finding(misread, "bus").claim);
  TransferMachine host = transfer_card();
  host.state.crosses_bus = false;
  expect_words(transfer_finding(host, "bus").claim);
  expect_words(transfer_finding(host, "model/h2d/pinned").claim);
}

// Once, below the recommendation that it qualifies: the others do not repeat it.
TEST(TransferFindings, WithoutABusThatIsSaidOnce) {
  TransferMachine host = transfer_card();
  EXPECT_EQ(transfer_finding(host, "pin/batch:32").headline, 1);
  host.state.crosses_bus = false;
  EXPECT_EQ(transfer_finding(host, "pin/batch:32").headline, 1);
  EXPECT_THAT(transfer_finding(host, "pin/batch:32").claim, StartsWith("Within the host's memory, "));
  EXPECT_EQ(transfer_finding(host, "bus").headline, 2);
  for (const Finding& finding : transfer_findings(host.document, host.state)) {
    EXPECT_EQ(finding.claim.find("bus") != std::string::npos, finding.name == "bus") << finding.claim;
  }
  // Nothing else without a value is printed.
  host.document.points.clear();
  host.state.pinning.clear();
  for (const Finding& finding : transfer_findings(host.document, host.state)) {
    EXPECT_TRUE(finding.headline == 0 || finding.value || finding.name == "bus") << finding.claim;
  }
}

TEST(TransferFindings, SizesLeftOutArePredicted) {
  const Finding error = transfer_finding(transfer_card(), "model_error");
  EXPECT_NEAR(error.value.value_or(1), 0, 1e-9);
  ASSERT_TRUE(error.ci95);  // five sizes held out of each of five series one way
  EXPECT_NEAR(error.ci95->high, 0, 1e-9);
  EXPECT_EQ(error.evidence.size(), 25U);
  EXPECT_THAT(error.evidence, Contains("transfer/h2d/pinned/touched/1/4096"));
  expect_words(error.evidence);
}

TEST(TransferFindings, CrossoversNameTheSize) {
  const Finding pinned = transfer_finding(transfer_card(), "crossover/h2d/pinned");
  EXPECT_EQ(pinned.value, 64 * 1024);  // the models meet at 39.5 kB; 64 KiB is the next size measured
  EXPECT_NEAR(pinned.details.at("models_cross_at_bytes").get<double>(), 5000 / (1 / 6.0 - 1 / 25.0), 1);
  expect_words(pinned.claim);
  // Where they meet below the smallest size measured, nothing was seen of it.
  TransferMachine large = transfer_card();
  std::erase_if(large.document.points,
                [](const Point& point) { return point.params.value("bytes", 0.0) < 65536; });
  EXPECT_FALSE(transfer_finding(large, "crossover/h2d/pinned").details.contains("models_cross_at_bytes"));
  EXPECT_EQ(transfer_finding(transfer_card(), "crossover/h2d/staged").value, 1024 * 1024);
}

TEST(TransferFindings, OneSampleASizeProvesNothing) {
  TransferMachine card = transfer_card();
  for (Point& point : card.document.points) {
    point.stats.ci95_ns = {point.stats.median_ns, point.stats.median_ns};
  }
  const Finding crossover = transfer_finding(card, "crossover/h2d/pinned");
  EXPECT_FALSE(crossover.value);
  expect_words(crossover.claim);
  EXPECT_FALSE(transfer_finding(card, "at_once/both/pinned").ci95);
  expect_words(texts_of(transfer_tables(card.document, card.state)[0].rows[1]));
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
  expect_words(transfer_finding(transfer_card(), "cold_pages/d2h/pageable/pages:cold").claim);
}

TEST(TransferFindings, WhatWasNeverComparedHasNoCrossover) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  for (Point& point : document.points) {
    point.params["bytes"] = point.params["bytes"].get<std::int64_t>() + 1;
  }
  add_copies(document, "h2d", "pageable", 1000, 10e9);
  for (const Finding& finding : transfer_findings(document, {})) {
    EXPECT_FALSE(finding.name.starts_with("crossover/")) << finding.claim;
  }
}

// Twice as fast beyond 2 MiB.
TEST(TransferFindings, LatencyAndBandwidthAreThoseOfTheCurvesEnds) {
  TransferMachine machine;
  add_copies(machine.document, "both", "pinned", 1000, 10e9);
  for (Point& point : machine.document.points) {
    const double more = point.params["bytes"].get<double>() - (2 << 20);
    point.stats.median_ns -= std::max(0.0, more) / 10;
  }
  const Finding model = transfer_finding(machine, "model/both/pinned");
  EXPECT_EQ(model.details.at("pieces").size(), 12U);  // from the latency by 11 sizes to the bandwidth
  EXPECT_FALSE(model.details.at("pieces")[11].contains("to_bytes"));
  EXPECT_NEAR(model.details.at("latency_ns").get<double>(), 1000, 1);
  EXPECT_NEAR(model.details.at("bytes_per_s").get<double>(), 10e9, 1e5);
  EXPECT_NEAR(*model.value, 20e9, 2e5);
  ASSERT_TRUE(model.ci95);
  EXPECT_LT(model.ci95->high, 21e9);
  // Half of 10 GB/s lies between 1 MiB, where a copy takes 1 µs + 1 MiB / 5 GB/s, and 4 MiB.
  EXPECT_GT(model.details.at("half_bytes").get<double>(), 1 << 20);
  EXPECT_LT(model.details.at("half_bytes").get<double>(), 4 << 20);
  EXPECT_LT(model.details.at("straight").at("bytes_per_s").get<double>(), 9.9e9);
  const Finding error = transfer_finding(machine, "model_error");  // only both ways were measured
  expect_words(error.claim);
  EXPECT_LT(*error.value, error.details.at("straight").get<double>());
}

TEST(TransferFindings, AFlatEndHasNoBandwidth) {
  TransferMachine machine;
  add_copies(machine.document, "h2d", "pinned", 1000, 10e9);
  for (Point& point : machine.document.points) {
    point.stats.median_ns = std::min(1e5, point.stats.median_ns);
  }
  const Finding model = transfer_finding(machine, "model/h2d/pinned");
  EXPECT_FALSE(model.value);
  EXPECT_FALSE(model.details.contains("bytes_per_s"));
  expect_words(model.claim);
}

TEST(TransferFindings, ASizeGivenTwiceEndsNothing) {
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 1000, 10e9);
  document.points.push_back(document.points.front());
  for (const Finding& finding : transfer_findings(document, {})) {
    EXPECT_FALSE(finding.name.starts_with("model")) << finding.claim;
  }
}

TEST(TransferFindings, CopesWithLittle) {
  EXPECT_EQ(transfer_findings({}, {}).size(), 1U);  // that no bus was crossed
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 10, 1e9);
  document.points.resize(2);
  EXPECT_FALSE(transfer_findings(document, {}).empty());
  EXPECT_EQ(transfer_tables(document, {}).size(), 2U);  // the short one, and every size
  EXPECT_TRUE(transfer_tables({}, {}).empty());
}

TEST(TransferTables, HaveARowASize) {
  const TransferMachine card = transfer_card();
  const auto tables = transfer_tables(card.document, card.state);
  ASSERT_EQ(tables.size(), 7U);  // the short one, three directions, the others, pinning, steps
  EXPECT_THAT(tables[1].rows[0], ElementsAre("bytes", "pinned", "pageable", "staged"));
  EXPECT_EQ(tables[1].rows.size(), 12U);
  EXPECT_TRUE(tables[1].lists_points);
  EXPECT_THAT(tables[6].rows[3], Contains("pinned"));
}

TEST(TransferTables, BeginWithAShortOneOfAllDirections) {
  TransferMachine card = transfer_card();
  card.document.points[0].stats.ci95_ns = {1, 1e9};
  const auto tables = transfer_tables(card.document, card.state);
  EXPECT_TRUE(tables[0].lists_points);
  EXPECT_THAT(tables[0].rows[0], ElementsAre("copies", "bytes", "pinned", "pageable", "staged"));
  EXPECT_LE(tables[0].rows.size(), 1 + 3 * 4U);
  expect_words(texts_of(tables[0].rows[1]));  // an interval wider than the figure
}

// All that is said of a made-up card, and each of its tables. Pageable copies slow the computing down.
TEST(TransferTables, OfACardAreWhole) {
  TransferMachine card = transfer_card();
  Estimate& slowed = card.state.steps.front().kinds.front().compute_overlapped_ns;
  slowed = scaled(slowed, 1.1);
  std::vector<std::string> words;
  for (const Finding& finding : transfer_findings(card.document, card.state)) {
    words.push_back(finding.claim);
  }
  Page page;
  for (TextTable& table : transfer_tables(card.document, card.state)) {
    page.table(std::move(table));
  }
  words.push_back(page_text(page, 100));
  expect_words(words);
}

}  // namespace
}  // namespace bench::sweeps
