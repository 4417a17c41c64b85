// How many ranks pay, what limits them, and what their steps are lost to.
#include <gmock/gmock.h>

#include "sweeps/cards/findings.h"
#include "tests/sweeps/cards/made_up_steps.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CardsFindings, EfficiencyAndWhatItIsLostTo) {
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.99, 1, 1.01}), one_host(2, 2));
  const Finding& efficiency = named(findings, "efficiency/ranks:2/batch:8");
  EXPECT_NEAR(efficiency.value.value(), 0.8, 1e-9);
  EXPECT_TRUE(efficiency.ci95);
  EXPECT_THAT(efficiency.claim,
              AllOf(HasSubstr("1.60 times"), HasSubstr("efficiency of 80"), HasSubstr("waits 20")));
  EXPECT_THAT(efficiency.claim,
              ::testing::ContainsRegex("efficiency of 80(\\.[0-9])? (± [0-9.]+|\\([0-9.]+ to [0-9.]+\\)) %"));
  EXPECT_THAT(named(findings, "limit").claim,
              AllOf(HasSubstr("The collective limits 2 ranks"),
                    HasSubstr("takes 25.0 ms longer than alone, 20.0 ms of it waiting")));
  EXPECT_EQ(named(findings, "cards").value, 2);
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("effective batch is 16"), HasSubstr("learning rate")));
  EXPECT_THAT(named(findings, "memory").claim, HasSubstr("as planned on every rank"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 125}, 2), one_host(2, 2)), "limit").claim,
              HasSubstr("The host, which the ranks share, limits"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 101}, 1), one_host(2, 2)), "limit").claim,
              HasSubstr("lose nothing"));
}

TEST(CardsFindings, ACardsHostOrBusThatTakesAsLongAsAStepLimits) {
  const auto limit = [](double queued_ms, double copied_ms) {
    ResultDocument document = made_up_steps({100, 125}, 20);
    Json note = document.benchmarks.back().notes.front()->to_json();
    note["queued_ns"] = {1e6, 1e6 * queued_ms};
    note["copied_ns"] = {1e6 * copied_ms, 1e6};
    document.benchmarks.back().notes.front() = read_rank_steps(note);
    return named(cards_findings(document, one_host(2, 2)), "limit");
  };
  EXPECT_THAT(limit(100, 100).claim, HasSubstr("The collective limits 2 ranks"));
  const Finding launch = limit(120, 100);
  EXPECT_THAT(launch.claim, AllOf(HasSubstr("Launching limits 2 ranks"), HasSubstr("takes 120 ms"),
                                  HasSubstr("the step 125 ms")));
  EXPECT_NEAR(launch.value.value(), 0.96, 1e-9);
  EXPECT_EQ(launch.details.at("limit"), "launch");
  EXPECT_GT(launch.headline, 0);
  EXPECT_THAT(limit(120, 250).claim,
              AllOf(HasSubstr("The bus limits 2 ranks"), HasSubstr("takes 250 ms, a step 125 ms")));
}

// A rank may wait longer than a step is longer: it computes less than alone.
TEST(CardsFindings, ThePartThatLimitsIsNoMoreThanTheWhole) {
  const Finding limit = named(cards_findings(made_up_steps({100, 125}, 40), one_host(2, 2)), "limit");
  EXPECT_EQ(limit.value, 1);
  EXPECT_THAT(limit.claim, HasSubstr("a step takes 25.0 ms longer than alone, all of it waiting"));
}

TEST(CardsFindings, WhatTheIntervalsDoNotDecideIsNotSignificant) {
  // Two ranks give 1.1 to 2.3 times as much, by round; 1.5 times would pay.
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.7, 1, 1.45}), one_host(2, 2));
  const Finding& cards = named(findings, "cards");
  EXPECT_FALSE(cards.value);
  EXPECT_THAT(cards.claim,
              AllOf(HasSubstr("It is not significant whether 2 ranks pay"), HasSubstr("1.60 times ("),
                    HasSubstr("1.50 times would pay [give a larger --time-budget]")));
  ResultDocument noisy = made_up_steps({100, 125}, 15);
  noisy.benchmarks.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(noisy.benchmarks.back(), {90, 110, 135}, {15, 15, 15});
  EXPECT_THAT(named(cards_findings(noisy, one_host(2, 2)), "limit").claim,
              HasSubstr("Not significant what limits 2 ranks"));
  // A step that varies because it waits now shorter, now longer.
  ResultDocument waits = made_up_steps({100, 125}, 25);
  waits.benchmarks.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(waits.benchmarks.back(), {99, 100, 101}, {5, 25, 50});
  EXPECT_THAT(named(cards_findings(waits, one_host(2, 2)), "limit").claim,
              HasSubstr("The collective limits 2 ranks"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110, 125}, 5, 1), one_host(4, 4)), "cards").claim,
              HasSubstr("4 ranks pay, the most that were started"));
  ResultDocument one_round = made_up_steps({100, 125}, 20);
  for (MeasuredPoint& point : one_round.benchmarks) {
    point.samples_ns.resize(1);
    point.rounds.resize(1);
    point.notes.resize(1);
    point.stats.ci95_ns.reset();
  }
  EXPECT_THAT(named(cards_findings(one_round, one_host(2, 2)), "cards").claim, HasSubstr("not significant"));
  EXPECT_THAT(named(cards_findings(one_round, one_host(2, 2)), "balance").claim,
              HasSubstr("No rank is significantly slower"));
}

TEST(CardsFindings, ARankThatDoesNotPayIsNotAdvised) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 4));
  EXPECT_EQ(named(findings, "cards").value, 2);  // four give 2.1 times, two 1.8
  EXPECT_EQ(named(cards_findings(made_up_steps({100, 190}, 5), one_host(2, 2)), "cards").value, 1);
}

TEST(CardsFindings, RanksThatTakeTurnsAreAWarningAndTheLimit) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 2));
  const Finding& ranks = named(findings, "ranks");
  EXPECT_THAT(ranks.claim, AllOf(StartsWith("Warning: 4 ranks of 1 thread take turns on the 2 cores"),
                                 HasSubstr("[start 2 ranks a host]")));
  const Finding& limit = named(findings, "limit");
  EXPECT_THAT(limit.claim,
              AllOf(StartsWith("Warning: shared cores limit 4 ranks: 4 of 1 thread take turns on 2 cores"),
                    HasSubstr("[start 2 ranks a host]")));
  EXPECT_FALSE(limit.value);
  EXPECT_EQ(limit.headline, 2) << "one warning is printed";
  EXPECT_EQ(ranks.headline, 0);
  ResultDocument without = made_up_steps({100, 110, 190}, 5);
  without.benchmarks.erase(without.benchmarks.begin());
  EXPECT_EQ(named(cards_findings(without, one_host(4, 2)), "ranks").headline, 2);
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110}, 5), one_host(2, 2)), "ranks").claim,
              Not(HasSubstr("Warning")));
}

TEST(CardsFindings, ASlowRankIsNamed) {
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 150, 150}, 1, 1.5), one_host(4, 4)), "balance").claim,
              AllOf(HasSubstr("Rank 3 is the slowest"), HasSubstr("50")));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110}, 1), one_host(2, 2)), "balance").claim,
              Not(HasSubstr("is the slowest: it")));
}
TEST(CardsFindings, ALoaderIsComparedWithWhatAllRanksOfAHostNeed) {
  const ResultDocument document = made_up_steps({100, 125}, 20);  // two ranks: 128 samples/s
  CardsSetup setup = one_host(2, 4);
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim,
              AllOf(HasSubstr("128 samples/s"), HasSubstr("was not measured [bench --sweep workers")));
  setup.loader = HostLimit{.file = "w.json", .host = "cpu", .per_s = 200, .cores = 4};
  const Finding fed = named(cards_findings(document, setup), "loader");
  EXPECT_EQ(fed.value, 3) << "50 samples/s each";
  EXPECT_THAT(fed.claim, HasSubstr("The loader feeds 2 ranks"));
  setup.loader->per_s = 100;
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim, HasSubstr("The loader limits 2 ranks"));
  setup.ranks.hosts = {"a", "b"};
  setup.ranks.near = 1;
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim, HasSubstr("The loader feeds"));
}

TEST(CardsFindings, TheLibrarysMemoryIsToldApart) {
  const ResultDocument document = made_up_steps({100, 125}, 20);
  CardsSetup setup = one_host(2, 2);
  EXPECT_THAT(named(cards_findings(document, setup), "memory").claim, HasSubstr("could not be measured"));
  setup.library = {.joining = {10 << 20, 11 << 20}, .summing = {1 << 20, 1 << 20}, .summed = 25 << 20};
  EXPECT_THAT(named(cards_findings(document, setup), "memory").claim,
              AllOf(HasSubstr("11.0 MiB to 12.0 MiB more"), HasSubstr("summing 25.0 MiB")));
}

TEST(CardsFindings, CopeWithNoPointsAndWithoutOneRank) {
  EXPECT_EQ(cards_findings({}, one_host(2, 2)).size(), 1U);
  EXPECT_TRUE(cards_tables({}, one_host(2, 2)).empty());
  ResultDocument document = made_up_steps({100, 125}, 20);
  document.benchmarks.erase(document.benchmarks.begin());
  const auto findings = cards_findings(document, one_host(2, 2));
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("One rank alone was not measured"), HasSubstr("[--cards 1,2]"),
                    HasSubstr("effective batch is 16, 2 times")));
  document.sweep.axes = {{"ranks", {1, 2}}};
  EXPECT_THAT(named(cards_findings(document, one_host(2, 2)), "cards").claim,
              HasSubstr("[give a larger --time-budget]"))
      << "it was asked for";
  EXPECT_THAT(named(findings, "waits/ranks:2/batch:8").claim,
              HasSubstr("waits 20.0 ms (16 %) for gradients"));
  EXPECT_THAT(named(findings, "memory").claim, Not(HasSubstr("one alone")));
  for (const char* const name : {"balance", "loader"}) {
    EXPECT_GT(named(findings, name).headline, 0) << name;
  }
  EXPECT_EQ(cards_tables(document, one_host(2, 2)).front().rows.size(), 2U);
}

}  // namespace
}  // namespace bench::sweeps
