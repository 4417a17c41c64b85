#include "bench/text/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TEST(Axis, TakesListsAndRanges) {
  EXPECT_THAT(parse_axis("--batch", "7"), ElementsAre(7));
  EXPECT_THAT(parse_axis("--batch", "1,2,4"), ElementsAre(1, 2, 4));
  EXPECT_THAT(parse_axis("--batch", "1:256:x2"), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256));
  EXPECT_THAT(parse_axis("--batch", "8:64:+8"), ElementsAre(8, 16, 24, 32, 40, 48, 56, 64));
  EXPECT_THAT(parse_axis("--batch", "3:3:x2"), ElementsAre(3));
}

TEST(Axis, HoldsARangesEndOnlyWhereAStepLandsOnIt) {
  EXPECT_THAT(parse_axis("--batch", "1:100:x3"), ElementsAre(1, 3, 9, 27, 81));
  EXPECT_THAT(parse_axis("--batch", "1:10:+4"), ElementsAre(1, 5, 9));
}

TEST(Axis, MixesSortsAndDropsRepeats) {
  EXPECT_THAT(parse_axis("--batch", "32,1:8:x2,8:24:+8,1"), ElementsAre(1, 2, 4, 8, 16, 24, 32));
}

TEST(Axis, ReachesTheLargestNumbersWithoutOverflow) {
  EXPECT_THAT(parse_axis("--batch", "4611686018427387904:9223372036854775807:x2"),
              ElementsAre(4611686018427387904));
  EXPECT_THAT(parse_axis("--batch", "9223372036854775806:9223372036854775807:+9"),
              ElementsAre(9223372036854775806));
}

TEST(Axis, TakesTenThousandValuesAndNotOneMore) {
  EXPECT_THAT(parse_axis("--batch", "1:10000:+1"), SizeIs(10'000));
  expect_words(message_of<UsageError>([] { parse_axis("--batch", "1:10001:+1"); }));
  // Refused while it is read, not after a list of that size was made.
  EXPECT_THROW(parse_axis("--batch", "1:9223372036854775807:+1"), UsageError);
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Count, IsAWholeNumberWithinItsLimits) {
  EXPECT_EQ(parse_count("--prefetch", "64", 1, 64), 64);
  for (const char* wrong : {"", "0", "65", "-1", "+1", "1.5", "2x", "99999999999999999999"}) {
    EXPECT_THAT([&] { parse_count("--prefetch", wrong, 1, 64); },
                ThrowsMessage<UsageError>(std::string("--prefetch: '") + wrong +
                                          "' was given; accepted: a whole number, 1 to 64"))
        << wrong;
  }
}

TEST(Axis, SaysWhatIsAccepted) {
  for (const char* const wrong : {"",           "0",
                                  "-1",         "4,0",
                                  "abc",        "4x",
                                  "1.5",        "1, 2",
                                  "+3",         ",",
                                  "1,,2",       "1,2,",
                                  "1:10",       "1:10:",
                                  "1:10:2",     "1:10:x",
                                  "1:10:x1",    "1:10:x0",
                                  "1:10:+0",    "1:10:+-1",
                                  "1:10:x2:x2", "0:10:x2",
                                  "10:1:x2",    "::",
                                  "::x2",       "9223372036854775808"}) {
    expect_words(message_of<UsageError>([&] { parse_axis("--batch", wrong); }));
  }
}

}  // namespace
}  // namespace bench
