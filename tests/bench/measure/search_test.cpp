#include "bench/measure/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bench {
namespace {

LargestFit search(std::int64_t answer, std::int64_t guess, std::int64_t limit,
                  std::vector<std::int64_t>* asked = nullptr) {
  return find_largest_fit(guess, limit, [&](std::int64_t size) {
    EXPECT_GE(size, 1);
    EXPECT_LE(size, limit);
    if (asked != nullptr) {
      asked->push_back(size);
    }
    return size <= answer;
  });
}

TEST(LargestFit, ARightGuessTakesTwoQuestions) {
  std::vector<std::int64_t> asked;
  const LargestFit found = search(37, 37, 1000, &asked);
  EXPECT_EQ(found.size, 37);
  EXPECT_TRUE(found.bounded);
  EXPECT_EQ(found.asked, 2);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{37, 38}));
}

TEST(LargestFit, IsFoundFromEveryGuessWithinTheQuestionsPromised) {
  constexpr std::int64_t kLimit = 100;
  for (std::int64_t answer = 0; answer <= kLimit; ++answer) {
    for (std::int64_t guess = 1; guess <= kLimit; ++guess) {
      const LargestFit found = search(answer, guess, kLimit);
      ASSERT_EQ(found.size, answer) << "guess " << guess;
      ASSERT_EQ(found.bounded, answer < kLimit);
      const double error = std::abs(static_cast<double>(answer - guess));
      ASSERT_LE(found.asked, 2 + static_cast<int>(2 * std::log2(error + 1) + 1e-9))
          << "answer " << answer << ", guess " << guess;
    }
  }
}

TEST(LargestFit, AGuessBeyondTheLimitIsTheLimit) {
  const LargestFit found = search(50, 1'000'000, 50);
  EXPECT_EQ(found.size, 50);
  EXPECT_FALSE(found.bounded);
  EXPECT_EQ(found.asked, 1);
}

TEST(LargestFit, FindsItAmongManyFromTheSmallest) {
  const LargestFit found = search(123'456'789, 1, std::int64_t{1} << 40);
  EXPECT_EQ(found.size, 123'456'789);
  EXPECT_LE(found.asked, 2 + 2 * 27);
}

}  // namespace
}  // namespace bench
