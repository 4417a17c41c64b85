#include "bench/page/columns.h"

#include <gtest/gtest.h>

#include "bench/cli/text.h"

namespace bench {
namespace {

TEST(Columns, AreAsWideAsTheirWidestCells) {
  EXPECT_EQ(in_columns({{"batch", "rate"}, {"1", "9 ± 1"}, {"128", "100"}}, {true, false}, 80),
            "batch  rate\n    1  9 ± 1\n  128  100\n");
}

TEST(Columns, BreaksTextWhereTheWidestCellsDoNotFit) {
  EXPECT_EQ(in_columns({{"name", "what it is"}, {"a", "one two three"}, {"bb", "four"}}, {false, false}, 12),
            "name  what\n      it is\na     one\n      two\n      three\nbb    four\n");
  EXPECT_EQ(in_columns({{"point", "n"}, {"transfer/h2d/pinned", "7"}}, {false, true}, 14),
            "point        n\ntransfer/    7\nh2d/pinned\n");
}

// From the last to those that tell the rows apart; a mark stays.
TEST(Columns, AreLeftOutWhereTheWidthIsNotEnough) {
  const std::vector<std::vector<std::string>> rows{{"batch", "dtype", "rate", "memory", ""},
                                                   {"1", "fp32", "100 ± 1", "10 MiB", "○"},
                                                   {"1", "fp16", "200 ± 2", "5.0 MiB", ""}};
  const std::vector<bool> right{true, false, true, true, false};
  EXPECT_EQ(in_columns(rows, right, 30),
            "batch  dtype     rate\n    1  fp32   100 ± 1  ○\n    1  fp16   200 ± 2\n"
            "A wider terminal also shows:\n  memory.\n");
  EXPECT_EQ(in_columns(rows, right, 20),
            "batch  dtype\n    1  fp32   ○\n    1  fp16\n"
            "A wider terminal\n  also shows: rate,\n  memory.\n");
}

TEST(Columns, HaveWholeRowsInAFile) {
  const std::string word(80, 'x');
  EXPECT_EQ(in_columns({{word, word}}, {false, false}, kFileWidth), word + "  " + word + "\n");
}

}  // namespace
}  // namespace bench
