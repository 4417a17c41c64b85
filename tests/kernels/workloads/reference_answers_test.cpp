// The reference's answers: computed once, shared by the points of a series, released with them; and what
// passes when a batch is compared with them.
#include "kernels/workloads/reference_answers.h"
#include "tests/bench/support/golden_words.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;

class SharedAnswersTest : public ::testing::Test {
 protected:
  // The answer to row i is i.
  std::shared_ptr<ReferenceAnswers> ask(const WorkloadSpec& spec, std::int64_t batch = 0) {
    return shared_.of(
        spec,
        [this](const std::vector<std::int64_t>& rows) {
          computed_.push_back(rows);
          Answers answers;
          for (const std::int64_t row : rows) {
            answers.push_back({static_cast<float>(row)});
          }
          return answers;
        },
        batch);
  }

  SharedAnswers shared_;
  std::vector<std::vector<std::int64_t>> computed_;
};

TEST_F(SharedAnswersTest, AreComputedWhenNeededAndOnce) {
  const auto answers = ask({});
  EXPECT_TRUE(computed_.empty());
  EXPECT_THAT(answers->to_first(1), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(answers->to_first(2), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(answers->to_first(1), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(answers->of({7, 1, 5}), ElementsAre(ElementsAre(7), ElementsAre(1), ElementsAre(5)));
  EXPECT_THAT(computed_, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(7, 5)));
}

// A sum over the batch is another for each.
TEST_F(SharedAnswersTest, MayDependOnTheBatch) {
  const auto answers = ask({}, 8);
  EXPECT_EQ(ask({}, 8), answers);
  EXPECT_NE(ask({}, 64), answers);
}

TEST_F(SharedAnswersTest, ServeEveryBatchAndDtypeOfAQuestion) {
  WorkloadSpec spec;
  spec.mode = "forward";
  spec.options["rows"] = "3";
  const auto answers = ask(spec);
  WorkloadSpec other = spec;
  other.batch = 64;
  other.dtype = Dtype::bf16;
  EXPECT_EQ(ask(other), answers);
  other.seed = 2;
  EXPECT_NE(ask(other), answers);
  other = spec;
  other.options["rows"] = "4";
  EXPECT_NE(ask(other), answers);
  other = spec;
  other.mode = "backward";
  EXPECT_NE(ask(other), answers);
}

TEST_F(SharedAnswersTest, AreReleasedWithTheLastPoint) {
  auto one = ask({});
  auto other = ask({});
  one->to_first(2);
  one.reset();
  other->to_first(2);
  EXPECT_EQ(computed_.size(), 1U);
  const std::weak_ptr<ReferenceAnswers> kept = other;
  other.reset();
  EXPECT_TRUE(kept.expired());
  ask({})->to_first(2);
  EXPECT_EQ(computed_.size(), 2U);
}

const std::vector<std::vector<float>> kExpected{{3, 4}, {0, 10}};

TEST(Compare, RowsRepeatTheDistinctSamples) {
  const std::vector<float> right{3, 4, 0, 10, 3, 4};
  const Verification result = compare_rows(right, kExpected, 1e-3, "pairs");
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.tolerance, 1e-3);
  expect_words(result.detail);
}

TEST(Compare, WorstRowDecides) {
  const std::vector<float> wrong{3, 4, 0, 10, 3, 4.5};
  const Verification result = compare_rows(wrong, kExpected, 0.05, "pairs");
  EXPECT_FALSE(result.passed);
  EXPECT_DOUBLE_EQ(result.error, 0.1);
  expect_words(result.detail);
}

TEST(Compare, SwappedRowsFail) {
  EXPECT_FALSE(compare_rows(std::vector<float>{0, 10, 3, 4}, kExpected, 0.1, "").passed);
}

TEST(Compare, WhatIsNotFiniteFails) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Verification result = compare_rows(std::vector<float>{3, 4, 0, bad}, kExpected, 1e9, "");
    EXPECT_FALSE(result.passed);
    EXPECT_TRUE(std::isinf(result.error));
    expect_words(result.detail);
  }
}

// A network whose own values are not finite says nothing of the device.
TEST(Compare, NothingIsCheckedAgainstWhatIsNotFinite) {
  const std::vector<std::vector<float>> expected{{3, 4}, {0, std::nanf("")}};
  const Verification result =
      compare_rows(std::vector<float>{3, 4, 0, std::nanf("")}, expected, 0.1, "pairs");
  EXPECT_FALSE(result.passed);
  EXPECT_FALSE(result.failed());
  expect_words(result.not_checked);
}

TEST(Compare, NothingAndPartsOfRowsFail) {
  EXPECT_FALSE(compare_rows({}, kExpected, 1, "").passed);
  EXPECT_FALSE(compare_rows(std::vector<float>{3, 4, 0}, kExpected, 1, "").passed);
  EXPECT_FALSE(compare_rows(std::vector<float>{3, 4}, {}, 1, "").passed);
}

TEST(CompareSome, RowsAreTheOnesNamed) {
  const std::vector<float> answers{9, 9, 3, 4, 8, 8, 0, 10};
  const std::vector<std::int64_t> rows{1, 3};
  const Verification right = compare_some_rows(answers, rows, kExpected, 1e-3, "pairs");
  EXPECT_TRUE(right.passed);
  expect_words(right.detail);
  EXPECT_FALSE(compare_some_rows(answers, std::vector<std::int64_t>{1, 2}, kExpected, 0.1, "").passed);
}

// What was not written is NaN.
TEST(CompareSome, EveryOtherRowIsFinite) {
  const std::vector<std::int64_t> rows{0, 3};
  const Verification result =
      compare_some_rows(std::vector<float>{3, 4, 1, std::nanf(""), 8, 8, 0, 10}, rows, kExpected, 1e9, "");
  EXPECT_FALSE(result.passed);
  EXPECT_TRUE(std::isinf(result.error));
  expect_words(result.detail);
}

TEST(CompareSome, RowsThatAreMissingFail) {
  const std::vector<std::int64_t> rows{0, 2};
  EXPECT_FALSE(compare_some_rows(std::vector<float>{3, 4, 0, 10}, rows, kExpected, 1, "").passed);
  EXPECT_FALSE(compare_some_rows({}, rows, kExpected, 1, "").passed);
}

TEST(RowsToCompare, AreTheFirstTheMiddleAndTheLast) {
  EXPECT_EQ(rows_to_compare(1), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(rows_to_compare(2), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(rows_to_compare(3), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(rows_to_compare(8192), (std::vector<std::int64_t>{0, 4096, 8191}));
}

}  // namespace
}  // namespace bench::kernels
