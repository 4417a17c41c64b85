// What batches through stages of layers give.
#include <gmock/gmock.h>

#include "sweeps/cards/answer.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/cards/made_up_steps.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;

// One rank in 100 ms; two and four with stages, one micro-batch and four, and rank 1 with half as much again
// to do as the others.
ResultDocument made_up_stages(const std::vector<std::pair<int, double>>& parts_and_ms, int ranks,
                              const std::vector<double>& by_round = {1, 1, 1}) {
  ResultDocument document = made_up_steps({100}, 0);
  for (const auto& [parts, ms] : parts_and_ms) {
    Point point;
    point.name = fmt::format("p{}x{}", ranks, parts);
    point.params = {{"ranks", ranks}, {"batch", 8}, {"split", "layers"}, {"micro-batches", parts}};
    auto note = std::make_shared<RankSteps>();
    for (int rank = 0; rank < ranks; ++rank) {
      const double own = 1e6 * (rank == 1 ? 60 : 40);
      note->step_ns.push_back(1e6 * ms);
      note->waited_ns.push_back(1e6 * ms - own);
      note->plan_bytes.push_back((rank + 1) << 20);
      note->peak_bytes.push_back((rank + 1) << 20);
      note->activation_bytes.push_back((rank + 1) << 18);
    }
    add_rounds(point, ms, note, by_round);
    document.points.push_back(point);
  }
  return document;
}

CardsSetup staged(int ranks) {
  CardsSetup setup = one_host(ranks, 2);
  setup.strong = setup.split_layers = true;
  return setup;
}

TEST(StageFindings, ThroughputIdleTimeAndTheSlowestStage) {
  const ResultDocument document = made_up_stages({{1, 100}, {4, 75}}, 2);
  const auto findings = cards_findings(document, staged(2));
  const Finding& four = named(findings, "efficiency/split:layers/ranks:2/micro-batches:4/batch:8");
  EXPECT_NEAR(four.value.value(), 100.0 / 75 / 2, 1e-9);
  expect_words(four.claim);
  EXPECT_EQ(named(findings, "cards").value, 2);
  expect_words(named(findings, "cards").claim);
  EXPECT_NEAR(named(findings, "limit").value.value(), 0.2, 1e-9);
  expect_words(named(findings, "limit").claim);
  expect_words(named(findings, "balance").claim);
  expect_words(named(findings, "memory").claim);
  const TextTable table = cards_tables(document, staged(2)).front();
  ASSERT_EQ(table.rows.size(), 4U);
  for (const auto& row : table.rows) {
    EXPECT_EQ(row.size(), table.rows[0].size());
  }
  EXPECT_THAT(table.rows.back(), AllOf(::testing::Contains("1.33"), ::testing::Contains("rank 1")));
}

TEST(StageFindings, MicroBatchesAreComparedByMemory) {
  ResultDocument document = made_up_stages({{1, 100}, {2, 90}, {4, 75}}, 2);
  const auto note = read_rank_steps(document.points.back().notes.front()->to_json());
  auto smaller = std::make_shared<RankSteps>();
  smaller->step_ns = note->step_ns;
  smaller->waited_ns = note->waited_ns;
  smaller->peak_bytes = smaller->plan_bytes = {1 << 19, 1 << 20};
  smaller->activation_bytes = note->activation_bytes;
  document.points.back().notes = {smaller, smaller, smaller};
  const auto findings = cards_findings(document, staged(2));
  const Finding& finding = named(findings, "micro-batches");
  expect_words(named(findings, "limit").claim);
  EXPECT_EQ(finding.value, 0.5);
  expect_words(finding.claim);
  expect_words(named(findings, "memory").claim);
  const auto one = cards_findings(made_up_stages({{4, 75}}, 2), staged(2));
  EXPECT_EQ(std::ranges::count(one, "micro-batches", &Finding::name), 0);
}

TEST(StageFindings, MoreMicroBatchesAreNotAdvisedWhereTheyWereSlower) {
  expect_words(named(cards_findings(made_up_stages({{1, 100}, {4, 75}}, 2), staged(2)), "limit").claim);
  expect_words(named(cards_findings(made_up_stages({{1, 75}, {4, 100}}, 2), staged(2)), "limit").claim);
}

TEST(StageFindings, AGainWithinNoiseIsToldSo) {
  expect_words(named(cards_findings(made_up_stages({{4, 75}}, 2), staged(2)), "cards").claim);
  const Finding within = named(cards_findings(made_up_stages({{4, 75}}, 2, {0.7, 1, 2}), staged(2)), "cards");
  expect_words(within.claim);
  EXPECT_FALSE(within.value);
}

TEST(StageFindings, OneRankIsAdvisedWhereStagesAreSlower) {
  const auto findings = cards_findings(made_up_stages({{1, 125}}, 2), staged(2));
  EXPECT_EQ(named(findings, "cards").value, 1);
  expect_words(named(findings, "cards").claim);
  EXPECT_EQ(cards_findings(made_up_stages({}, 2), staged(2)).size(), 1U);
  ResultDocument without = made_up_stages({{1, 125}, {4, 75}}, 2);
  without.points.erase(without.points.begin());
  const auto known = cards_findings(without, staged(2));
  expect_words(named(known, "cards").claim);
  expect_words(named(known, "memory").claim);
  for (const char* const name : {"limit", "balance", "micro-batches"}) {
    named(known, name);
  }
  EXPECT_EQ(cards_tables(without, staged(2)).front().rows.size(), 3U);
}

TEST(StageFindings, AnotherMemoryThanPlannedIsTold) {
  ResultDocument document = made_up_stages({}, 2);
  auto note = std::make_shared<RankSteps>();
  note->step_ns = {8e7, 8e7};
  note->waited_ns = {1e7, 2e7};
  note->plan_bytes = {1 << 20, 1 << 20};
  note->peak_bytes = {1 << 20, 1 << 21};
  Point point;
  point.name = "p";
  point.params = {{"ranks", 2}, {"batch", 8}, {"split", "layers"}};
  add_rounds(point, 80, note);
  document.points.push_back(point);
  expect_words(named(cards_findings(document, staged(2)), "memory").claim);
}

TEST(StageFindings, APipelineIsIdleWhileItFillsAndEmpties) {
  EXPECT_EQ(pipeline_idle(1, 1), 0);
  EXPECT_EQ(pipeline_idle(2, 1), 0.5);
  EXPECT_EQ(pipeline_idle(4, 1), 0.75);
  EXPECT_EQ(pipeline_idle(4, 9), 0.25);
}

}  // namespace
}  // namespace bench::sweeps
