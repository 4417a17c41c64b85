// Which changes of a step pay.
#include "bench/advise/results_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/advise/advice_files.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using testing::batch_file;
using testing::change_named;
using ::testing::Contains;
using testing::workers_file;

TEST(MeasuredAdvice, NamesALoaderWithoutWorkersAndHowManyHideIt) {
  const StepModel model({batch_file(), workers_file(5)});
  const Advice advice = advice_from(model, {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader_cpu);
  // 80 ms of computing and 40 of loading, one after the other.
  EXPECT_NEAR(advice.step_ns, 120e6, 1);
  ASSERT_EQ(advice.budget.size(), 2);
  EXPECT_EQ(advice.budget[1].name, "waiting for data");
  EXPECT_NEAR(advice.budget[1].ns, 40e6, 1);
  const Change* const change = change_named(advice, "workers 0 → 1");
  ASSERT_NE(change, nullptr);
  EXPECT_NEAR(change->step_ns, 80e6, 1);
  EXPECT_NEAR(change->speedup, 1.5, 1e-9);
  EXPECT_LT(change->speedup90->low, 1.5);
  EXPECT_GT(change->speedup90->high, 1.5);
  EXPECT_EQ(change->setting, "DataLoader(num_workers=1, prefetch_factor=2, persistent_workers=True)");
}

// 80 ms of computing: one worker loads in 83.2, a second one brings 4 %, less than the noise.
TEST(MeasuredAdvice, AdvisesTheMeasuredWorkersThatNoiseDoesNotTellFromMore) {
  EvaluatedFile workers = workers_file(10.4);
  workers.document.sweep.state["measured"] = 1;
  const StepModel model({batch_file(), workers});
  const Advice advice = advice_from(model, {.batch = 8});
  EXPECT_NE(change_named(advice, "workers 0 → 1"), nullptr);
  EXPECT_EQ(change_named(advice, "workers 0 → 2"), nullptr);
}

TEST(MeasuredAdvice, ChangesCombineInTheModelAndNotByTheirPercentages) {
  const StepModel model({batch_file(), workers_file(20)});
  const Advice advice = advice_from(model, {.batch = 1, .accumulate = 8});
  // 20 ms of computing and 20 of loading a sample now; 10 of both, overlapped, at batch 8 with two workers.
  const Change* const change = change_named(advice, "batch 1 → 8, accumulate 8 → 1, workers 0 → 2");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(&advice.changes.front(), change);
  EXPECT_NEAR(change->speedup, 4, 1e-9);
  EXPECT_EQ(change->after.effective_batch(), 8);
  expect_words(change->costs);
}

TEST(MeasuredAdvice, AnotherEffectiveBatchNamesTheLearningRate) {
  const Advice advice = advice_from(StepModel({batch_file()}), {.batch = 1});
  ASSERT_FALSE(advice.changes.empty());
  EXPECT_EQ(advice.changes.front().what, "batch 1 → 8");
  expect_words(advice.changes.front().costs);
  expect_words(advice.missing);
}

TEST(MeasuredAdvice, NoPrefetchIsTriedThatCurrentWouldRefuse) {
  const Advice advice =
      advice_from(StepModel({batch_file(), workers_file(5)}), {.batch = 8, .workers = 1, .prefetch = 200});
  for (const Change& change : advice.tried) {
    EXPECT_LE(change.after.prefetch, 256) << change.what;
  }
}

TEST(MeasuredAdvice, MoreWorkersThanWereMeasuredAreSaidToBeExtrapolated) {
  const StepModel model({batch_file(), workers_file(5)});
  EXPECT_THAT(advice_from(model, {.batch = 8, .workers = 64}).warnings,
              Contains("64 workers are extrapolated from at most 8 measured ones."));
  expect_words(advice_from(model, {.batch = 8, .workers = 8}).warnings);
}

TEST(MeasuredAdvice, ABatchThatWasNotGivenIsAssumedAndSaid) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5)}), {});
  EXPECT_EQ(advice.current.batch, 8);
  expect_words(advice.warnings);
}

}  // namespace
}  // namespace bench
