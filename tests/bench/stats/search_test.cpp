#include "bench/stats/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
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

// What a LineSearch finds, and how many amounts it asks for.
struct LineFound {
  std::int64_t size = 0;
  int asked = 0;
};

LineFound on_line(const LineSearch::Amount& amount, std::int64_t most, std::int64_t first = 1,
                  std::int64_t limit = std::int64_t{1} << 40) {
  LineFound found;
  LineSearch search(first, limit, [&](std::int64_t size) {
    EXPECT_GE(size, first);
    EXPECT_LE(size, limit);
    ++found.asked;
    return amount(size);
  });
  found.size = search.largest_within(most);
  return found;
}

TEST(LineSearch, AsksForFourAmountsOnALine) {
  for (const std::int64_t slope : {1, 7, 1000, 123'456'789}) {
    for (const std::int64_t fixed : {0, 5, 1'000'000}) {
      for (std::int64_t answer = 17; answer < 1'000'000; answer = answer * 3 + 1) {
        for (const std::int64_t room : {std::int64_t{0}, slope - 1}) {
          const LineFound found =
              on_line([&](std::int64_t size) { return fixed + slope * size; }, fixed + slope * answer + room);
          ASSERT_EQ(found.size, answer);
          ASSERT_LE(found.asked, 4) << slope << " " << fixed << " " << answer;
        }
      }
    }
  }
}

TEST(LineSearch, UsesWhatItKnowsForAnotherAmount) {
  int asked = 0;
  LineSearch search(1, 1000, [&](std::int64_t size) {
    ++asked;
    return 100 + 10 * size;
  });
  EXPECT_EQ(search.largest_within(5005), 490);
  asked = 0;
  EXPECT_EQ(search.largest_within(4500), 440);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(search.largest_within(5005), 490);
  EXPECT_EQ(search.largest_within(4904), 480);
  EXPECT_EQ(asked, 4);
}

TEST(LineSearch, KnowsItsEnds) {
  const auto doubled = [](std::int64_t size) { return 2 * size; };
  EXPECT_EQ(on_line(doubled, 1).size, 0);
  EXPECT_EQ(on_line(doubled, 2).size, 1);
  EXPECT_EQ(on_line(doubled, 9, 5).size, 0);
  EXPECT_EQ(on_line(doubled, 10, 5).size, 5);
  EXPECT_EQ(on_line(doubled, 1000, 3, 100).size, 100);
  EXPECT_EQ(on_line(doubled, 1000, 1, 1).size, 1);
  EXPECT_EQ(on_line([](std::int64_t) { return 7; }, 7).size, std::int64_t{1} << 40);
}

// The largest that has an amount at all.
TEST(LineSearch, FindsTheEndOfWhatCanBeCounted) {
  for (const std::int64_t last : {1, 2, 15, 16, 17, 2674, 100'000}) {
    const LineFound found = on_line(
        [&](std::int64_t size) {
          return size > last ? std::nullopt : std::optional<std::int64_t>(100 + size);
        },
        1'000'000'000);
    EXPECT_EQ(found.size, last);
    EXPECT_LE(found.asked, 40);
  }
}

// Jumps and bends of all sizes: right everywhere, with at most four times the questions of halving.
TEST(LineSearch, IsRightWhereverAmountsGrow) {
  std::mt19937_64 random(1);
  for (int shape = 0; shape < 200; ++shape) {
    std::vector<std::int64_t> amounts{0};  // by size
    const std::uint64_t jump = 1 + random() % 64;
    while (amounts.size() <= 3000) {
      const auto step = static_cast<std::int64_t>(10 + random() % 7);
      const auto more = static_cast<std::int64_t>(random() % jump == 0 ? random() % 5000 : 0);
      amounts.push_back(amounts.back() + step + more);
    }
    const std::int64_t setup = static_cast<std::int64_t>(random() % 20'000);
    const auto amount = [&](std::int64_t size) {
      return std::max(setup, amounts.at(static_cast<std::size_t>(size)));
    };
    for (int question = 0; question < 20; ++question) {
      const auto most = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(amounts.back()));
      std::int64_t expected = 0;
      while (expected < 2999 && amount(expected + 1) <= most) {
        ++expected;
      }
      const LineFound found = on_line(amount, most, 1, 2999);
      ASSERT_EQ(found.size, expected) << shape << " " << most;
      ASSERT_LE(found.asked, 4 * 12);
    }
  }
}

TEST(LargestFit, FindsItAmongManyFromTheSmallest) {
  const LargestFit found = search(123'456'789, 1, std::int64_t{1} << 40);
  EXPECT_EQ(found.size, 123'456'789);
  EXPECT_LE(found.asked, 2 + 2 * 27);
}

}  // namespace
}  // namespace bench
