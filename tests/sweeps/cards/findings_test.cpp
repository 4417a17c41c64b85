// How many ranks pay, what limits them, and what their steps are lost to.
#include <gtest/gtest.h>

#include "sweeps/cards/answer.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/cards/made_up_steps.h"

namespace bench::sweeps {
namespace {

TEST(CardsFindings, EfficiencyAndWhatItIsLostTo) {
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.99, 1, 1.01}), one_host(2, 2));
  const Finding& efficiency = named(findings, "efficiency/ranks:2/batch:8");
  EXPECT_NEAR(efficiency.value.value(), 0.8, 1e-9);
  EXPECT_TRUE(efficiency.ci95);
  expect_words(efficiency.claim);
  expect_words(named(findings, "limit").claim);
  EXPECT_EQ(named(findings, "cards").value, 2);
  expect_words(named(findings, "cards").claim);
  expect_words(named(findings, "memory").claim);
  expect_words(named(cards_findings(made_up_steps({100, 125}, 2), one_host(2, 2)), "limit").claim);
  expect_words(named(cards_findings(made_up_steps({100, 101}, 1), one_host(2, 2)), "limit").claim);
}

TEST(CardsFindings, ACardsHostOrBusThatTakesAsLongAsAStepLimits) {
  const auto limit = [](double queued_ms, double copied_ms) {
    ResultDocument document = made_up_steps({100, 125}, 20);
    Json note = document.points.back().notes.front()->to_json();
    note["queued_ns"] = {1e6, 1e6 * queued_ms};
    note["copied_ns"] = {1e6 * copied_ms, 1e6};
    document.points.back().notes.front() = read_rank_steps(note);
    return named(cards_findings(document, one_host(2, 2)), "limit");
  };
  expect_words(limit(100, 100).claim);
  const Finding launch = limit(120, 100);
  expect_words(launch.claim);
  EXPECT_NEAR(launch.value.value(), 0.96, 1e-9);
  EXPECT_EQ(launch.details.at("limit"), "launch");
  EXPECT_GT(launch.headline, 0);
  expect_words(limit(120, 250).claim);
}

// A rank may wait longer than a step is longer: it computes less than alone.
TEST(CardsFindings, ThePartThatLimitsIsNoMoreThanTheWhole) {
  const Finding limit = named(cards_findings(made_up_steps({100, 125}, 40), one_host(2, 2)), "limit");
  EXPECT_EQ(limit.value, 1);
  expect_words(limit.claim);
}

TEST(CardsFindings, WhatTheIntervalsDoNotDecideIsNotSignificant) {
  // Two ranks give 1.1 to 2.3 times as much, by round; 1.5 times would pay.
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.7, 1, 1.45}), one_host(2, 2));
  const Finding& cards = named(findings, "cards");
  EXPECT_FALSE(cards.value);
  expect_words(cards.claim);
  ResultDocument noisy = made_up_steps({100, 125}, 15);
  noisy.points.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(noisy.points.back(), {90, 110, 135}, {15, 15, 15});
  expect_words(named(cards_findings(noisy, one_host(2, 2)), "limit").claim);
  // A step that varies because it waits now shorter, now longer.
  ResultDocument waits = made_up_steps({100, 125}, 25);
  waits.points.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(waits.points.back(), {99, 100, 101}, {5, 25, 50});
  expect_words(named(cards_findings(waits, one_host(2, 2)), "limit").claim);
  expect_words(named(cards_findings(made_up_steps({100, 110, 125}, 5, 1), one_host(4, 4)), "cards").claim);
  ResultDocument one_round = made_up_steps({100, 125}, 20);
  for (Point& point : one_round.points) {
    point.samples_ns.resize(1);
    point.rounds.resize(1);
    point.notes.resize(1);
    point.stats.ci95_ns.reset();
  }
  expect_words(named(cards_findings(one_round, one_host(2, 2)), "cards").claim);
  expect_words(named(cards_findings(one_round, one_host(2, 2)), "balance").claim);
}

TEST(CardsFindings, ARankThatDoesNotPayIsNotAdvised) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 4));
  EXPECT_EQ(named(findings, "cards").value, 2);  // four give 2.1 times, two 1.8
  const auto one_pays = cards_findings(made_up_steps({100, 190}, 5), one_host(2, 2));
  EXPECT_EQ(named(one_pays, "cards").value, 1);
  expect_words(named(one_pays, "cards").claim);
}

TEST(CardsFindings, RanksThatTakeTurnsAreAWarningAndTheLimit) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 2));
  const Finding& ranks = named(findings, "ranks");
  expect_words(ranks.claim);
  const Finding& limit = named(findings, "limit");
  expect_words(limit.claim);
  EXPECT_FALSE(limit.value);
  EXPECT_EQ(limit.headline, 2) << "one warning is printed";
  EXPECT_EQ(ranks.headline, 0);
  ResultDocument without = made_up_steps({100, 110, 190}, 5);
  without.points.erase(without.points.begin());
  EXPECT_EQ(named(cards_findings(without, one_host(4, 2)), "ranks").headline, 2);
  expect_words(named(cards_findings(made_up_steps({100, 110}, 5), one_host(2, 2)), "ranks").claim);
}

TEST(CardsFindings, ASlowRankIsNamed) {
  expect_words(
      named(cards_findings(made_up_steps({100, 150, 150}, 1, 1.5), one_host(4, 4)), "balance").claim);
  expect_words(named(cards_findings(made_up_steps({100, 110}, 1), one_host(2, 2)), "balance").claim);
}
TEST(CardsFindings, ALoaderIsComparedWithWhatAllRanksOfAHostNeed) {
  const ResultDocument document = made_up_steps({100, 125}, 20);  // two ranks: 128 samples/s
  CardsSetup setup = one_host(2, 4);
  expect_words(named(cards_findings(document, setup), "loader").claim);
  setup.loader = HostLimit{.file = "w.json", .host = "cpu", .per_s = 200, .cores = 4};
  const Finding fed = named(cards_findings(document, setup), "loader");
  EXPECT_EQ(fed.value, 3) << "50 samples/s each";
  expect_words(fed.claim);
  setup.loader->per_s = 100;
  expect_words(named(cards_findings(document, setup), "loader").claim);
  setup.ranks.hosts = {"a", "b"};
  setup.ranks.near = 1;
  expect_words(named(cards_findings(document, setup), "loader").claim);
}

TEST(CardsFindings, TheLibrarysMemoryIsToldApart) {
  const ResultDocument document = made_up_steps({100, 125}, 20);
  CardsSetup setup = one_host(2, 2);
  expect_words(named(cards_findings(document, setup), "memory").claim);
  setup.library = {.joining = {10 << 20, 11 << 20}, .summing = {1 << 20, 1 << 20}, .summed = 25 << 20};
  expect_words(named(cards_findings(document, setup), "memory").claim);
}

TEST(CardsFindings, CopeWithNoPointsAndWithoutOneRank) {
  EXPECT_EQ(cards_findings({}, one_host(2, 2)).size(), 1U);
  EXPECT_TRUE(cards_tables({}, one_host(2, 2)).empty());
  ResultDocument document = made_up_steps({100, 125}, 20);
  document.points.erase(document.points.begin());
  const auto findings = cards_findings(document, one_host(2, 2));
  expect_words(named(findings, "cards").claim);
  document.sweep.axes = {{"ranks", {1, 2}}};
  expect_words(named(cards_findings(document, one_host(2, 2)), "cards").claim);  // it was asked for
  expect_words(named(findings, "waits/ranks:2/batch:8").claim);
  expect_words(named(findings, "memory").claim);
  for (const char* const name : {"balance", "loader"}) {
    EXPECT_GT(named(findings, name).headline, 0) << name;
  }
  EXPECT_EQ(cards_tables(document, one_host(2, 2)).front().rows.size(), 2U);
}

}  // namespace
}  // namespace bench::sweeps
