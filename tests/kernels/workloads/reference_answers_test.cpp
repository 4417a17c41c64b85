// The reference's answers: computed once, shared by the points of a series, released with them.
#include "kernels/workloads/reference_answers.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace bench::kernels
