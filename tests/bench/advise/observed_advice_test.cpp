// What follows from readings, one rule at a time.
#include "bench/advise/observed_advice.h"

#include <string>

#include <gmock/gmock.h>

#include "tests/bench/advise/table_of.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

Advice advice_of(const std::string& readings) {
  return advice_from_readings(parse_observed(readings, "r.json"), std::nullopt);
}

TEST(Observed, NothingReadAsksForEverything) {
  const Advice advice = advice_from_readings(parse_observed("{}", "r.json"), std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.missing);
}

TEST(Observed, AStepThatAccumulatesIsAskedWhichItIs) {
  const Advice advice = advice_from_readings(
      parse_observed(R"({"batch": 1, "accumulate": 8, "step_s": 1})", "r.json"), std::nullopt);
  EXPECT_EQ(advice.step_ns, 0);
  expect_words(advice.missing);
}

TEST(Observed, AnOptimizerStepOfUnknownAccumulationsIsAskedForTheirNumber) {
  const Advice advice =
      advice_of(R"({"step_s": 2.6, "data_s": 0.44, "workers": 0, "step_is": "optimizer_step"})");
  expect_words(advice.missing);
}

TEST(Observed, AWaitAsLongAsTheStepLeavesNothingToHideBehind) {
  const Advice advice = advice_of(R"({"step_ms": 5, "data_ms": 5, "workers": 0, "batch": 1})");
  EXPECT_TRUE(advice.changes.empty());
  expect_words(advice.missing);
}

TEST(Observed, MemoryOfAWorkerThatWasReadIsCounted) {
  const Advice advice = advice_of(
      R"({"step_s": 2, "data_s": 1, "workers": 0, "batch": 1, "cards": 2, "worker_memory_mib": 512,
          "host_memory_gib": 16, "host_memory_used_gib": 4})");
  ASSERT_FALSE(advice.changes.empty());
  expect_words(advice.changes.front().costs);
}

TEST(Observed, ReadingsThatCannotBothHoldAreNamed) {
  const Advice advice = advice_of(
      R"({"batch": 8, "memory_gib": 12, "memory_cap_gib": 16, "free_gib": 8, "allocation_gib": 1,
          "memory_at_batch": [{"batch": 8, "gib": 10}],
          "utilisation_percent": 40, "utilisation_range_percent": [90, 100]})");
  expect_words(advice.contradictions);
  EXPECT_THAT(advice_of(R"({"batch": 8, "memory_gib": 12, "memory_cap_gib": 16, "free_gib": 4,
                            "memory_at_batch": [{"batch": 8, "gib": 12}], "utilisation_percent": 95,
                            "utilisation_range_percent": [90, 100]})")
                  .contradictions,
              ::testing::IsEmpty());
}

TEST(Observed, SwapWithoutNeedIsNoBottleneck) {
  const std::string rest = R"("swap_used_gib": 0.05, "step_s": 1, "data_s": 0.7, "workers": 0, "batch": 1,
                              "accumulate": 1, "host_memory_gib": 128, "host_memory_used_gib": )";
  const Advice roomy = advice_of("{" + rest + "10}");
  EXPECT_EQ(roomy.bottleneck, Bottleneck::loader);
  expect_words(roomy.warnings);
  EXPECT_EQ(advice_of("{" + rest + "110}").bottleneck, Bottleneck::swap);
}

TEST(Observed, WorkersThatTheHostCannotHoldAreNotAdvised) {
  const Advice advice = advice_of(
      R"({"step_s": 1, "data_s": 0.5, "workers": 0, "batch": 1, "worker_memory_mib": 4000,
          "host_memory_gib": 32, "host_memory_used_gib": 31.9})");
  EXPECT_THAT(advice.changes, ::testing::IsEmpty());
  expect_words(advice.warnings);
}

TEST(Observed, AFasterCountOfWorkersThatTheHostCannotHoldIsNotAdvised) {
  const std::string readings = R"({"step_s": 1, "data_s": 0.5, "workers": 1, "batch": 1,
      "workers_tried": [{"workers": 8, "step_s": 0.6}], "host_memory_gib": 32, "host_memory_used_gib": 26,
      "worker_memory_mib": )";
  EXPECT_EQ(advice_of(readings + "400}").changes.size(), 1U);
  const Advice advice = advice_of(readings + "4000}");
  EXPECT_THAT(advice.changes, ::testing::IsEmpty());
  expect_words(advice.warnings);
}

// Four of them take 4 GiB of what is in use, so that six take 2 more.
TEST(Observed, WorkersThatRunAlreadyTakeTheirMemoryOnce) {
  const std::string readings =
      R"({"batch": 1, "workers": 4, "host_memory_gib": 16, "proposed": {"workers": 6},
                                   "host_memory_used_gib": 14)";
  expect_words(table_of(advice_of(readings + R"(, "worker_memory_mib": 1024})"), "Does the host hold").notes);
  expect_words(table_of(advice_of(readings + "}"), "Does the host hold").notes);
}

TEST(Observed, MoreCardsTakeMoreMemoryOfTheHost) {
  const Advice advice = advice_of(
      R"({"step_s": 1, "data_s": 0.01, "workers": 2, "batch": 1, "cards": 2, "worker_memory_mib": 256,
          "proposed": {"cards": 4}})");
  ASSERT_EQ(advice.changes.size(), 1U);
  expect_words(advice.changes.front().costs);
}

TEST(Observed, ManyWorkersNeedAsManyCores) {
  const std::string readings = R"({"step_s": 1, "data_s": 0.9, "workers": 0, "cards": 2, "batch": 4)";
  const Advice unknown = advice_of(readings + "}");
  EXPECT_THAT(unknown.changes, ::testing::IsEmpty());
  expect_words(unknown.missing);
  // Three workers a card load a batch in 0.3 s, where 0.1 s are computed.
  const Advice few = advice_of(readings + R"(, "host_cores": 6})");
  ASSERT_EQ(few.changes.size(), 1U);
  EXPECT_EQ(few.changes.front().after.workers, 3);
  EXPECT_NEAR(few.changes.front().speedup, 1 / 0.3, 1e-9);
  EXPECT_TRUE(few.changes.front().at_most) << "storage may be what limits";
  EXPECT_EQ(advice_of(readings + R"(, "host_cores": 64})").changes.front().after.workers, 9);
}

TEST(Observed, AProposedStepIsOfTheSameKind) {
  const Advice advice = advice_of(
      R"({"step_ms": 1020, "accumulate": 8, "batch": 16, "cards": 3, "step_is": "accumulation",
          "proposed": {"batch": 32, "accumulate": 2, "step_ms": 600}})");
  // 1.02 s for 48 samples, 0.6 s for 96.
  const AdviceTable& table = table_of(advice, "What does the proposal bring");
  EXPECT_THAT(table.table.rows.at(2), ElementsAre("as hoped for", "192", "1.2 s", "6.25 ms"));
  expect_words(table.notes);
}

TEST(Observed, AProposedBatchThatDoesNotFitIsSaidTo) {
  const std::string readings = R"({"batch": 8, "step_s": 1, "accumulate": 1, "memory_cap_gib": 16,
      "memory_at_batch": [{"batch": 8, "gib": 8}, {"batch": 16, "gib": 12}], "proposed": {"batch": )";
  const auto notes = [&](const std::string& batch) {
    return table_of(advice_of(readings + batch + "}}"), "What does the proposal bring").notes;
  };
  EXPECT_EQ(notes("24").size() + 1, notes("32").size()) << "24 of 4 GiB and half a GiB each fill the card";
  expect_words(notes("32"));
}

TEST(Observed, ManyCardsWidenThePublishedInterval) {
  const Advice advice = advice_of(R"({"step_s": 1, "batch": 4, "cards": 1, "proposed": {"cards": 64}})");
  ASSERT_EQ(advice.changes.size(), 1U);
  const Change& change = advice.changes.front();
  EXPECT_NEAR(change.speedup90->low, 64 * std::pow(0.83, 6), 64 * 0.01);
  expect_words(change.evidence);
}

TEST(Observed, SmallDifferencesAreNotHours) {
  const Advice advice =
      advice_of(R"({"step_s": 1, "batch": 4, "cards": 2, "iterations": 100, "proposed": {"cards": 4}})");
  EXPECT_THAT(table_of(advice, "4 cards").table.rows, Contains(ElementsAre("100 %", "50 s", "50 s")));
}

TEST(Observed, CopiesAreAdvisedForInferenceAlone) {
  const std::string readings = R"({"split": "layers", "memory_gib": [1, 2], "cards": 2, "memory_cap_gib": 16,
                                   "step_s": 1, "iterations": 100, "mode": ")";
  const Advice train = advice_of(readings + "train\"}");
  EXPECT_THAT(train.changes, ::testing::IsEmpty());
  EXPECT_THAT(table_of(train, "or a copy on each").table.rows.at(2),
              ElementsAre("a copy on each", "–", "3.00 GiB", "0 %"));
  const Advice infer = advice_of(readings + "infer\"}");
  EXPECT_EQ(infer.changes.size(), 2U);
  EXPECT_EQ(infer.subject, "an inference run");
}

TEST(Observed, CopiesThatDoNotFitTakeNoTime) {
  const Advice advice = advice_of(
      R"({"split": "layers", "memory_gib": [7, 7], "cards": 2, "memory_cap_gib": 8, "step_s": 1,
          "iterations": 100, "mode": "infer"})");
  EXPECT_THAT(table_of(advice, "or a copy on each").table.rows.at(3),
              ElementsAre("a copy on each (does not fit)", "–", "14.00 GiB", "0 %"));
}

TEST(Observed, ABatchBeyondTheMemoryIsNotSensible) {
  const Advice advice = advice_of(
      R"({"memory_at_batch": [{"batch": 8, "gib": 8}, {"batch": 16, "gib": 12}], "memory_cap_gib": 16,
          "no_faster_above_batch": 64})");
  const AdviceTable& table = table_of(advice, "Which batch fits");
  EXPECT_THAT(table.table.rows.at(1), ElementsAre("16.00 GiB", "24", "20"));
  expect_words(table.notes);
}

TEST(Observed, ADeathWithoutItsIterationIsNotExplained) {
  EXPECT_THAT(advice_of(R"({"died_at": {"batch": 4}})").warnings,
              Contains("A card ran out of memory at batch 4: take a smaller batch there."));
}

TEST(Observed, CardsThatMakeItSlowerAreNotAdvised) {
  const Advice advice = advice_of(R"({"step_s": 2, "batch": 8, "cards": 4, "proposed": {"cards": 2}})");
  EXPECT_TRUE(advice.changes.empty());
  expect_words(advice.warnings);
}

TEST(Observed, AnEarlierRunOnLargerImagesHadMorePixels) {
  const Advice advice = advice_of(
      R"({"step_s": 2, "batch": 8, "image_size": 400, "earlier_run": {"image_size": 600, "step_s": 3}})");
  expect_words(advice.warnings);
}

TEST(Observed, AHiddenLoaderLeavesWhatWasNotRead) {
  const Advice advice = advice_from_readings(
      parse_observed(R"({"step_ms": 100, "data_ms": 1, "workers": 4, "batch": 8, "accumulate": 1})",
                     "r.json"),
      std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_TRUE(advice.changes.empty());
  expect_words(advice.reason);
  expect_words(advice.missing);
}

TEST(Observed, AShortWaitNamesNothing) {
  const Advice advice =
      advice_of(R"({"step_ms": 100, "data_ms": 6, "workers": 0, "batch": 8, "accumulate": 1})");
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  ASSERT_EQ(advice.changes.size(), 1U);
  EXPECT_EQ(advice.changes.front().after.workers, 1);
}

TEST(Observed, ACardThatIdlesWithoutWaitingIsUndecided) {
  for (const char* const data : {"0", "0.06"}) {
    const Advice advice = advice_of(R"({"step_s": 1, "workers": 4, "utilisation_percent": 20, "data_s": )" +
                                    std::string(data) + "}");
    EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
    expect_words(advice.reason);
    expect_words(advice.missing);
  }
  EXPECT_EQ(advice_of(R"({"step_s": 1, "data_s": 0.7, "workers": 4, "utilisation_percent": 20})").bottleneck,
            Bottleneck::loader);
}

// Four workers for which the trainer waits load a batch each 0.52 s: 2.08 s for one, where 0.32 s are
// computed.
TEST(Observed, WorkersThatAreWaitedForTellHowManyKeepUp) {
  const std::string readings = R"({"step_s": 0.52, "data_s": 0.2, "batch": 64, "workers": 4, "host_cores": )";
  const Advice advice = advice_of(readings + "16}");
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader);
  ASSERT_EQ(advice.changes.size(), 1U);
  const Change& change = advice.changes.front();
  EXPECT_EQ(change.after.workers, 7);
  EXPECT_TRUE(change.at_most);
  EXPECT_NEAR(change.speedup, 0.52 / 0.32, 1e-9);
  expect_words(change.evidence);
  const Advice few = advice_of(readings + "5}");
  EXPECT_NEAR(few.changes.front().speedup, 5.0 / 4, 1e-9);
  const Advice none = advice_of(readings + "4}");
  EXPECT_THAT(none.changes, ::testing::IsEmpty());
  expect_words(none.warnings);
}

TEST(Observed, CountsThatLoadAsSlowlyTellThatWorkersDoNotLimit) {
  const std::string readings = R"({"step_s": 5.9, "data_s": 5.6, "batch": 128, "workers": 4, "host_cores": 12,
                                   "workers_tried": [{"workers": 10, "data_s": 5.5, "step_s": )";
  const Advice advice = advice_of(readings + "5.8}]}");
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader);
  EXPECT_THAT(advice.changes, ::testing::IsEmpty());
  expect_words(advice.reason);
  const Advice faster =
      advice_of(readings + "5.6}], \"earlier_run\": {\"workers\": 2, \"step_s\": 9, \"data_s\": 8.7}}");
  EXPECT_THAT(faster.changes, ::testing::IsEmpty());
  EXPECT_EQ(advice_of(R"({"step_s": 5.9, "data_s": 5.6, "batch": 128, "workers": 4, "host_cores": 12,
                          "earlier_run": {"workers": 2, "step_s": 11, "data_s": 10.7}})")
                .changes.size(),
            1U);
}

std::string worker_readings(const std::string& now, const std::string& others) {
  return R"({"batch": 32, "host_cores": 16, )" + now + R"(, "workers_tried": [)" + others + "]}";
}

TEST(Observed, TheFastestCountOfWorkersThatWasReadIsAdvised) {
  const std::string others = R"({"workers": 2, "step_ms": 10.8, "data_ms": 6},
                                {"workers": 4, "step_ms": 7.5, "data_ms": 2.5},
                                {"workers": 16, "step_ms": 7.06, "data_ms": 2})";
  const Advice more = advice_of(worker_readings(R"("workers": 1, "step_ms": 17.2, "data_ms": 12)", others));
  ASSERT_EQ(more.changes.size(), 1U);
  EXPECT_EQ(more.changes.front().after.workers, 16);
  EXPECT_FALSE(more.changes.front().at_most);
  EXPECT_NEAR(more.changes.front().speedup, 17.2 / 7.06, 1e-9);
  expect_words(more.reason);
  const Advice fewer = advice_of(worker_readings(R"("workers": 4, "step_ms": 300, "data_ms": 250)",
                                                 R"({"workers": 2, "step_ms": 180, "data_ms": 130})"));
  ASSERT_EQ(fewer.changes.size(), 1U);
  EXPECT_EQ(fewer.changes.front().after.workers, 2);
  expect_words(fewer.reason);
}

TEST(Observed, StepsByWorkersNeedNoWait) {
  const std::string others = R"({"workers": 2, "step_ms": 10.8}, {"workers": 16, "step_ms": 7.06})";
  for (const std::string wait : {"", R"(, "data_ms": 16)"}) {
    const Advice advice = advice_of(worker_readings(R"("workers": 1, "step_ms": 17.2)" + wait, others));
    EXPECT_EQ(advice.bottleneck, Bottleneck::loader);
    ASSERT_EQ(advice.changes.size(), 1U);
    EXPECT_NEAR(advice.changes.front().speedup, 17.2 / 7.06, 1e-9);
  }
  // The fastest one is this run's: nothing larger is promised.
  EXPECT_THAT(advice_of(worker_readings(R"("workers": 4, "step_ms": 7, "data_ms": 2)",
                                        R"({"workers": 8, "step_ms": 8})"))
                  .changes,
              ::testing::IsEmpty());
}

// 27 ms and 612 ms of work: eight workers take 103.5 ms, no less.
TEST(Observed, CountsOfWorkersGiveTheLawOfLoading) {
  const Advice advice = advice_of(
      R"({"workers": 2, "step_ms": 333, "data_ms": 270, "earlier_run": {"workers": 4, "step_ms": 180,
          "data_ms": 120}})");
  ASSERT_EQ(advice.changes.size(), 1U);
  EXPECT_EQ(advice.changes.front().after.workers, 4);
  expect_words(advice.missing);
  const Advice onwards = advice_of(
      R"({"workers": 4, "step_ms": 180, "data_ms": 160, "host_cores": 8, "earlier_run": {"workers": 2,
          "step_ms": 333, "data_ms": 313}})");
  ASSERT_EQ(onwards.changes.size(), 1U);
  EXPECT_EQ(onwards.changes.front().after.workers, 8);
  EXPECT_NEAR(onwards.changes.front().step_ns, 103.5e6, 1);
  EXPECT_TRUE(onwards.changes.front().at_most);
}

TEST(Observed, AnEarlierRunWithOtherWorkersBoundsTheStep) {
  const Advice advice = advice_of(
      R"({"workers": 2, "step_ms": 333, "data_ms": 217, "iterations": 100,
          "earlier_run": {"workers": 8, "step_ms": 77, "data_ms": 4}})");
  ASSERT_EQ(advice.changes.size(), 1U);
  EXPECT_NEAR(advice.changes.front().step_ns, 77e6, 1);
  EXPECT_THAT(table_of(advice, "How long does training").table.rows,
              Contains(ElementsAre("loading hidden", "73 ms", "7.3 s")));
}

TEST(Observed, MoreProcessesThanCoresAreWorthATry) {
  const std::string readings = R"({"cards": 8, "workers": 32, "step_ms": 500, "host_cores": )";
  const Advice crowded = advice_of(readings + "32}");
  EXPECT_EQ(crowded.bottleneck, Bottleneck::undecided);
  expect_words(crowded.reason);
  EXPECT_NE(advice_of(readings + "512}").reason, crowded.reason);
  EXPECT_NE(advice_of(readings + R"(32, "host_cpu_percent": 20})").reason, crowded.reason);
}

TEST(Observed, IdleCoresExcludeDecoding) {
  const std::string readings =
      R"({"workers": 12, "host_cores": 12, "step_ms": 500, "data_ms": 475, "batch": 8, "host_cpu_percent": )";
  const Advice idle = advice_of(readings + "10}");
  EXPECT_EQ(idle.bottleneck, Bottleneck::loader);
  expect_words(idle.reason);
  EXPECT_THAT(idle.warnings, ElementsAre("These readings change nothing here: batch."));
  EXPECT_NE(advice_of(readings + "95}").reason, idle.reason);
}

TEST(Observed, AWaitThatGrewManyTimesWhileComputingStayedIsTheStorage) {
  const std::string readings =
      R"({"step_ms": 8750, "data_ms": 8621, "batch": 32, "cards": 8, "earlier_run": {"step_ms": )";
  const Advice advice = advice_of(readings + R"(176, "data_ms": 44}})");
  EXPECT_EQ(advice.bottleneck, Bottleneck::storage);
  expect_words(advice.reason);
  EXPECT_EQ(advice_of(readings + R"(4500, "data_ms": 4400}})").bottleneck, Bottleneck::loader)
      << "twice as long";
  EXPECT_EQ(advice_of(readings + R"(176, "data_ms": 44, "batch": 16}})").bottleneck, Bottleneck::loader);
  EXPECT_EQ(advice_of(readings + R"(500, "data_ms": 44}})").bottleneck, Bottleneck::loader)
      << "computing changed";
}

TEST(Observed, CoresThatSpendTheirTimeInTheKernelAreTheLimit) {
  const std::string readings =
      R"({"step_ms": 526, "data_ms": 33.6, "cards": 8, "workers": 8, "host_cores": 64)";
  const Advice unread = advice_of(readings + "}");
  EXPECT_EQ(unread.bottleneck, Bottleneck::undecided);
  expect_words(unread.missing);
  const Advice contended =
      advice_of(readings + R"(, "host_cpu_percent": 99.6, "host_system_percent": 46.5})");
  EXPECT_EQ(contended.bottleneck, Bottleneck::host);
  expect_words(contended.reason);
  const Advice free = advice_of(readings + R"(, "host_cpu_percent": 40, "host_system_percent": 4})");
  EXPECT_EQ(free.bottleneck, Bottleneck::undecided);
  expect_words(free.reason);
}

TEST(Observed, TwoCountsOfCardsTellWhatTheyBring) {
  const std::string readings = R"({"cards": 2, "step_ms": 2070, "earlier_run": {"cards": 1, "step_ms": 1270)";
  const Advice times = advice_of(readings + "}}");
  EXPECT_EQ(times.bottleneck, Bottleneck::undecided);
  expect_words(times.reason);
  const std::string waits = readings + R"(, "data_ms": 10}, "data_ms": )";
  EXPECT_EQ(advice_of(waits + "15}").bottleneck, Bottleneck::undecided) << "the host's cores were not read";
  const Advice link = advice_of(waits + R"(15, "host_cpu_percent": 30})");
  EXPECT_EQ(link.bottleneck, Bottleneck::link);
  expect_words(link.reason);
  EXPECT_EQ(advice_of(waits + R"(700, "host_cpu_percent": 30})").bottleneck, Bottleneck::loader);
  expect_words(
      advice_of(R"({"cards": 2, "step_ms": 1280, "earlier_run": {"cards": 1, "step_ms": 1270}})").reason);
}

TEST(Observed, MoreCardsFollowFromWhatTwoCountsBrought) {
  const std::string readings = R"({"device": "rtx4090", "step_ms": 500, "batch": 8, "proposed": {"cards": )";
  // On two cards a step grew by 100 ms, and a ring of four sends 1.5 times as much.
  const Advice read = advice_of(readings + R"(4}, "earlier_run": {"cards": 2, "step_ms": 600}})");
  ASSERT_EQ(read.changes.size(), 1U);
  EXPECT_NEAR(read.changes.front().speedup, 4 * 500.0 / 650, 1e-9);
  EXPECT_LT(read.changes.front().speedup90->low, 4 * 500.0 / 720) << "each doubling as the first";
  EXPECT_GT(read.changes.front().speedup90->high, 4 * 500.0 / 600) << "as long as on two";
  EXPECT_NEAR(
      advice_of(readings + R"(2}, "earlier_run": {"cards": 2, "step_ms": 600}})").changes.front().speedup,
      2 * 500.0 / 600, 1e-9);
  const Advice unread = advice_of(readings + "4}}");
  EXPECT_THAT(unread.changes, ::testing::IsEmpty()) << "published pairs have NVLink, a GeForce card has none";
  expect_words(unread.missing);
  const Advice slower = advice_of(readings + R"(4}, "earlier_run": {"cards": 2, "step_s": 3.5}})");
  EXPECT_THAT(slower.changes, ::testing::IsEmpty());
  expect_words(slower.warnings);
}

TEST(Observed, NothingFitsThatIsLargerThanABatchThatDied) {
  const Advice advice = advice_of(
      R"({"memory_cap_gib": 16, "other_caps_gib": [8, 16, 32], "died_at": {"batch": 40},
          "memory_at_batch": [{"batch": 8, "gib": 3}, {"batch": 16, "gib": 5}]})");
  const AdviceTable& table = table_of(advice, "Which batch fits");
  // 1 GiB + 0.25 GiB a sample: 11 GiB at 40, where 16 did not do. So 5 GiB more, or 16/11 of it.
  EXPECT_THAT(table.table.rows,
              ElementsAre(::testing::_, ElementsAre("8.00 GiB", "8", "4"),
                          ElementsAre("16.00 GiB", "39", "33"), ElementsAre("32.00 GiB", "84", "75")));
  expect_words(table.notes);
  expect_words(advice.missing);
}

TEST(Observed, WhereBatchOneDiedNothingFits) {
  const Advice advice = advice_of(
      R"({"memory_cap_gib": 16, "died_at": {"batch": 1},
          "memory_at_batch": [{"batch": 8, "gib": 3}, {"batch": 16, "gib": 5}]})");
  EXPECT_THAT(table_of(advice, "Which batch fits").table.rows.at(1),
              ElementsAre("16.00 GiB", "none", "none"));
}

TEST(Observed, ALineThatBendsIsNoContradiction) {
  const Advice advice = advice_of(
      R"({"memory_cap_gib": 16, "memory_at_batch": [{"batch": 1, "gib": 1}, {"batch": 2, "gib": 1.1},
          {"batch": 4, "gib": 2}, {"batch": 8, "gib": 4}]})");
  EXPECT_THAT(advice.contradictions, ::testing::IsEmpty());
  const AdviceTable& table = table_of(advice, "Which batch fits");
  EXPECT_THAT(table.table.rows.at(1), ElementsAre("16.00 GiB", "32", "28"));
  expect_words(table.notes);
}

// Up to batch 3 half a GiB whatever the batch, from 4 on half a GiB a sample.
TEST(Observed, AMemoryBelowTheBendFollowsItsOwnLine) {
  const Advice advice = advice_of(
      R"({"other_caps_gib": [1, 4], "memory_at_batch": [{"batch": 1, "gib": 0.5}, {"batch": 2, "gib": 0.5},
          {"batch": 3, "gib": 0.5}, {"batch": 4, "gib": 2}, {"batch": 8, "gib": 4}]})");
  const AdviceTable& table = table_of(advice, "Which batch fits");
  EXPECT_THAT(table.table.rows.at(1), ElementsAre("1.00 GiB", "3", "3"));
  EXPECT_THAT(table.table.rows.at(2), ElementsAre("4.00 GiB", "8", "7"));
}

TEST(Observed, ManyReadingsOnALineAreFitted) {
  const Advice advice = advice_of(
      R"({"mode": "infer", "memory_cap_gb": 24, "memory_at_batch": [{"batch": 5, "gb": 10.6},
          {"batch": 20, "gb": 13.0}, {"batch": 50, "gb": 18.1}]})");
  EXPECT_THAT(table_of(advice, "Which batch fits").table.rows.at(1), ElementsAre("22.35 GiB", "85", "71"));
  expect_words(advice.reason);
}

TEST(Observed, WhatPyTorchReservesIsComparedWithWhatTheCardUses) {
  const std::string readings = R"({"memory_gib": 12, "memory_cap_gib": 16, "reserved_gib": )";
  expect_words(table_of(advice_of(readings + "11.4}"), "memory to its end").notes);
  expect_words(table_of(advice_of(readings + "8}"), "memory to its end").notes);
  expect_words(advice_of(readings + "13}").contradictions);
}

TEST(Observed, NoCardComputesBeyondItsPeak) {
  const std::string readings =
      R"({"device": "t4", "dtype": "fp16", "batch": 64, "gflop_a_sample": 24.6, "step_ms": )";
  EXPECT_THAT(advice_of(readings + "100}").contradictions, ::testing::IsEmpty());
  expect_words(advice_of(readings + "10}").contradictions);
  expect_words(advice_of(R"({"device": "t5"})").warnings);
}

TEST(Observed, ParametersTakeTheirMemoryAtLeast) {
  const std::string readings = R"({"parameters_m": 340, "optimizer": "adam", "memory_gib": )";
  EXPECT_THAT(advice_of(readings + "8}").contradictions, ::testing::IsEmpty());
  expect_words(advice_of(readings + "4}").contradictions);
}

TEST(Observed, TimeOutsideOfStepsIsNoContradiction) {
  const std::string readings = R"({"step_s": 1, "iterations_done": 100, "elapsed_s": )";
  EXPECT_THAT(advice_of(readings + "130}").contradictions, ::testing::IsEmpty());
  expect_words(advice_of(readings + "130}").warnings);
  expect_words(advice_of(readings + R"(130, "outside_s": 30})").warnings);
  expect_words(advice_of(readings + "80}").contradictions);
}

TEST(Observed, WhatChangesNothingIsNamed) {
  EXPECT_THAT(
      advice_of(R"({"step_s": 1, "data_s": 0.01, "workers": 4, "image_size": 224, "epochs": 3})").warnings,
      Contains("These readings change nothing here: workers, image_size, epochs."));
}

TEST(Observed, CountsOfWorkersAreComparedBothWays) {
  const Advice both = advice_of(R"({"workers_tried": [{"workers": 4, "slower_than_workers": 8},
                                                      {"workers": 8, "slower_than_workers": 4}]})");
  EXPECT_THAT(both.contradictions,
              ElementsAre("8 workers are read as slower than 4, and 4 as slower than 8."));
  EXPECT_THAT(table_of(both, "workers").table.rows, Contains(ElementsAre("8", "slower than 4", "–")));
  const Advice few = advice_of(R"({"workers_tried": [{"workers": 8, "slower_than_workers": 16}]})");
  EXPECT_THAT(table_of(few, "workers").table.rows,
              Contains(ElementsAre("8", "slower than 16", "too few: more load faster")));
}

TEST(Observed, WhatAnAllocationLeavesIsSaid) {
  expect_words(table_of(advice_of(R"({"allocation_gib": 1, "free_gib": 2})"), "allocation").notes);
}

TEST(Observed, AMemoryLineBelowZeroIsNamed) {
  const Advice advice =
      advice_of(R"({"memory_at_batch": [{"batch": 8, "gb": 2}, {"batch": 16, "mib": 4000}]})");
  expect_words(advice.contradictions);
}

TEST(Observed, ADtypeThatWasNotReadMayBeTheFastest) {
  const std::string readings = R"({"step_ms": 50, "batch": 64, "device": "t4", "gflop_a_sample": )";
  EXPECT_THAT(advice_of(readings + "25}").contradictions, ::testing::IsEmpty()) << "32 of 65 TFLOP/s in fp16";
  EXPECT_EQ(advice_of(readings + R"(25, "dtype": "fp32"})").contradictions.size(), 1U);
  EXPECT_EQ(advice_of(readings + "60}").contradictions.size(), 1U);
}

// Two cards wait for all that their step is longer by.
TEST(Observed, CardsThatWaitForDataAreNotToldToMendTheirLink) {
  const Advice advice = advice_of(
      R"({"step_ms": 300, "data_ms": 250, "workers": 4, "cards": 2, "batch": 8,
          "earlier_run": {"cards": 1, "step_ms": 150, "data_ms": 100}, "proposed": {"cards": 4}})");
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader);
  expect_words(advice.warnings);
}

TEST(Observed, AShortWaitLeavesWhatTwoCountsOfCardsTell) {
  const Advice advice = advice_of(
      R"({"step_ms": 300, "data_ms": 5, "workers": 4, "cards": 2, "batch": 8,
          "earlier_run": {"cards": 1, "step_ms": 240, "data_ms": 5}})");
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  expect_words(advice.reason);
}

TEST(Observed, NoFurtherWorkersAreAdvisedOnFullCores) {
  const std::string readings = R"({"step_ms": 500, "data_ms": 120, "batch": 8, "workers": 4, "cards": 4,
                                   "host_cores": 64, "host_system_percent": 5, "host_cpu_percent": )";
  const Advice full = advice_of(readings + "97}");
  EXPECT_THAT(full.changes, ::testing::IsEmpty());
  expect_words(full.warnings);
  EXPECT_THAT(advice_of(readings + "30}").changes, ::testing::SizeIs(1));
}

// 200 ms + 800 ms / workers: 8 more of them would come from two counts alone.
TEST(Observed, ALawOfTwoCountsReachesToTwiceTheLarger) {
  const Advice advice = advice_of(
      R"({"step_ms": 300, "data_ms": 250, "batch": 8, "workers": 8, "host_cores": 256,
          "earlier_run": {"workers": 4, "step_ms": 400, "data_ms": 350}})");
  ASSERT_FALSE(advice.changes.empty());
  EXPECT_LE(advice.changes.front().after.workers, 16);
}

}  // namespace
}  // namespace bench
