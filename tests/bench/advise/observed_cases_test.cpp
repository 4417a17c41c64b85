// Five cases that people wrote down, with the answers that their numbers give.
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/advise/observed_advice.h"
#include "bench/text/lines.h"
#include "tests/bench/advise/table_of.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr double kHour = 3600;

Advice case_of(char letter, const std::optional<StandIn>& stand_in = std::nullopt) {
  const std::string path = std::string(BENCH_TEST_SOURCE_DIR "/results/observed/case-") + letter + ".json";
  return advice_from_readings(parse_observed(testing::read_file(path), "case.json"), stand_in);
}

TEST(CaseA, LoadingIsTheBottleneckAndHidesBehindCompute) {
  const Advice advice = case_of('a');
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader);
  EXPECT_DOUBLE_EQ(advice.step_ns, 2.6e9);
  ASSERT_EQ(advice.budget.size(), 2U);
  EXPECT_NEAR(advice.budget[1].ns, 0.44e9, 1);
  EXPECT_NEAR(advice.budget[0].ns, 2.16e9, 1);
  ASSERT_EQ(advice.changes.size(), 2U);
  EXPECT_EQ(advice.changes[0].after.cards, 6);
  const Change& workers = advice.changes[1];
  EXPECT_EQ(workers.after.workers, 1);
  EXPECT_NEAR(workers.step_ns, 2.16e9, 1);
  EXPECT_NEAR(workers.speedup, 2.6 / 2.16, 1e-12);
}

TEST(CaseA, TimesToTrainAndBreakEvens) {
  // To go: (10 · 30,895 − 350) · 2.6 s = 222.87 h, · 2.16 s = 185.16 h. Six cards from the start: 308,950 ·
  // 4/6 · 2.6 s = 148.75 h.
  const double as_it_is = (308'950 - 350) * 2.6 / kHour;
  const double six = 308'950 * 4.0 / 6 * 2.6 / kHour;
  EXPECT_NEAR(six / as_it_is, 0.6674, 5e-5);
  const Advice advice = case_of('a');
  EXPECT_THAT(table_of(advice, "How long").table.rows,
              AllOf(Contains(ElementsAre("as it is", "2.6 s", "222.9 h (9.3 days)")),
                    Contains(ElementsAre("loading hidden", "2.16 s", "185.2 h (7.7 days)"))));
  const AdviceTable& cards = table_of(advice, "6 cards");
  EXPECT_THAT(cards.table.rows,
              AllOf(Contains(ElementsAre("100 %", "148.8 h (6.2 days)", "74.1 h (3.1 days)", "36.4 h")),
                    Contains(ElementsAre("80 %", "185.9 h (7.7 days)", "36.9 h", "46.9 min longer")),
                    Contains(ElementsAre("60 %", "247.9 h (10.3 days)", "25.0 h longer",
                                         "62.8 h (2.6 days) longer"))));
}

TEST(CaseB, FollowsFromCountsOfWorkers) {
  EXPECT_EQ(case_of('b').bottleneck, Bottleneck::loader);
}

TEST(CaseC, NamesSwapFirstAndAsksForTheDataTime) {
  const Advice advice = case_of('c');
  EXPECT_EQ(advice.bottleneck, Bottleneck::swap);
  EXPECT_TRUE(advice.contradictions.empty()) << "200 steps of 1.02 s are 204 s";
  EXPECT_NEAR(advice.step_ns, 1.02e9 / 8, 1);
  EXPECT_EQ(advice.current.effective_batch(), 384);
}

TEST(CaseC, ComparesTheProposalPerSample) {
  const Advice advice = case_of('c');
  const AdviceTable& table = table_of(advice, "per sample");
  EXPECT_THAT(table.table.rows, AllOf(Contains(ElementsAre("as it is", "384", "1.02 s", "2.66 ms")),
                                      Contains(ElementsAre("as hoped for", "192", "600 ms", "3.12 ms"))));
}

TEST(CaseA, GradientsOfTheStandInAreReplayedOverLinks) {
  StandIn stand_in{.name = "net", .planned_for = "a card", .optimizer = "sgd", .plans = {}, .links = {}};
  StandInPlan plan{.batch = 1, .sequence = {}, .dtype = "fp16", .memory = {}};
  plan.memory.at_peak[MemoryCategory::gradients] = 120'000'000;
  stand_in.plans = {plan};
  for (const double bytes_per_s : {10e9, 20e6}) {
    Link link;
    link.bytes_per_s = bytes_per_s;
    stand_in.links.links.push_back(link);
  }
  const AdviceTable table = table_of(case_of('a', stand_in), "Do 6 cards wait for each other's gradients?");
  ASSERT_EQ(table.table.rows.size(), 3U);
  // 120 MB, each byte sent 2·5/6 times.
  EXPECT_EQ(table.table.rows[1][1], "20.0 ms");
  EXPECT_EQ(table.table.rows[2][1], "10.0 s");
  expect_words(table.table.rows[1][2].text);  // all but the last bucket hides
  expect_words(table.table.rows[2][2].text);  // 10 s begin in the 1.44 s of the backward pass
}

TEST(CaseC, TheStandInShowsWhatShardsAndTheHostFree) {
  StandIn stand_in{
      .name = "net", .planned_for = "a card", .optimizer = "adam", .plans = {}, .largest_parameter = 0.25};
  StandInPlan plan{.batch = 16, .sequence = 192, .dtype = "fp32", .memory = {}};
  plan.memory.at_peak[MemoryCategory::weights] = 1LL << 30;
  plan.memory.at_peak[MemoryCategory::gradients] = 1LL << 30;
  plan.memory.at_peak[MemoryCategory::optimizer] = 3LL << 30;
  plan.memory.at_peak[MemoryCategory::activations] = 3LL << 30;
  plan.memory.peak = 8LL << 30;
  stand_in.plans = {plan};
  stand_in.plans.push_back(plan);
  stand_in.plans.back().sequence = 256;  // as it is read
  const Advice advice = case_of('c', stand_in);
  EXPECT_THAT(table_of(advice, "a stand-in for your network").table.rows,
              Contains(ElementsAre("fp32", "16", "192", "8.00 GiB", "5.00 GiB")));
  const AdviceTable table = table_of(advice, "What could 3 cards share out? Planned, never run");
  // Without two thirds of the state; of the gradients too, but for a bucket; of the parameters too, but for
  // the largest; and without all of state and gradients. Shares of gradients are summed in each of 8
  // accumulations.
  EXPECT_THAT(
      table.table.rows,
      AllOf(Contains(ElementsAre("nothing", "8.00 GiB", "5.00 GiB", "–", "1.33 GiB", "–")),
            Contains(ElementsAre("optimizer (ZeRO-1)", "6.00 GiB", "3.00 GiB", "–", "1.33 GiB", "–")),
            Contains(ElementsAre("gradients too (ZeRO-2)", "5.36 GiB", "2.33 GiB", "–", "6.00 GiB", "–")),
            Contains(ElementsAre("parameters too (ZeRO-3)", "4.94 GiB", "2.33 GiB", "–", "16.0 GiB", "–")),
            Contains(ElementsAre("ZeRO-2, on the host (Offload)", "4.02 GiB", "1.00 GiB", "1.33 GiB",
                                 "6.00 GiB", "3.00 GiB"))));
  expect_words(table.notes);
}

TEST(CaseD, TheReadingsAreNotOnOneLine) {
  const Advice advice = case_of('d');
  // 8 and 12 GB at batch 8 and 16: 4 GB + 0.5 GB a sample, so 20 GB at 32.
  EXPECT_TRUE(advice.contradictions.empty());
  EXPECT_EQ(advice.warnings.size(), 3U);
  const AdviceTable& table = table_of(advice, "Which batch fits");
  EXPECT_THAT(table.table.rows,
              ElementsAre(ElementsAre("card's memory", "largest batch", "safe (below 90 %)"),
                          ElementsAre("4.00 GiB", "none", "none"), ElementsAre("6.00 GiB", "4", "2"),
                          ElementsAre("8.00 GiB", "8", "6"), ElementsAre("12.00 GiB", "16", "13"),
                          ElementsAre("16.00 GiB", "32", "20")));
}

TEST(CaseE, LayersSplitAgainstCopies) {
  const Advice advice = case_of('e');
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  const AdviceTable& table = table_of(advice, "or a copy on each");
  // 2.5 s, then 1,219 times the longest stage's 4.34/15.24 of it.
  EXPECT_THAT(table.table.rows,
              AllOf(Contains(ElementsAre("layers split", "50.8 min", "at most 4.34 GiB", "75 %")),
                    Contains(ElementsAre("split, several images at a time", "14.5 min",
                                         "at most 4.34 GiB and images", "12 %")),
                    Contains(ElementsAre("a copy on each", "12.7 min", "15.24 GiB", "0 %"))));
  EXPECT_DOUBLE_EQ(advice.changes.at(0).speedup, 4);
  EXPECT_NEAR(advice.changes.at(1).speedup, 1220 / (1 + 1219 * 4.34 / 15.24), 0.01);
}

// Whatever words the reason has.
TEST(Observed, APageSplitsTheStepWhereItsBottleneckDoesNot) {
  Advice advice;
  advice.reason = "2.10 GiB of a step of bytes lie in swap.";
  advice.step_ns = 4e8;
  advice.budget = {{"computing", 3e8}, {"waiting for data", 1e8}};
  const auto splits = [&](Bottleneck bottleneck) {
    advice.bottleneck = bottleneck;
    return page_text(advice_page(advice), 100)
               .find("A step of 400 ms: computing 300 ms (75 %), waiting for data 100 ms (25 %).") !=
           std::string::npos;
  };
  EXPECT_TRUE(splits(Bottleneck::swap));
  EXPECT_FALSE(splits(Bottleneck::loader));
  advice.reason = "Data is late.";
  EXPECT_FALSE(splits(Bottleneck::loader));
  advice.budget.push_back({"copying", 1e6});
  EXPECT_NE(page_text(advice_page(advice), 100).find("copying 1.00 ms"), std::string::npos);
}

TEST(Observed, EveryFormatFitsAndIsSound) {
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    const Advice advice = case_of(letter);
    std::istringstream lines(page_text(advice_page(advice), 100));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns(line), 100U) << line;
    }
    EXPECT_EQ(advice_json(advice)["bottleneck"], name_of(advice.bottleneck));
    EXPECT_EQ(testing::schema_errors(advice_json(advice).dump(),
                                     BENCH_TEST_SOURCE_DIR "/results/advice-schema.json"),
              "");
    EXPECT_THAT(page_markdown(advice_page(advice)), ::testing::HasSubstr("**Bottleneck: "));
  }
}

}  // namespace
}  // namespace bench
