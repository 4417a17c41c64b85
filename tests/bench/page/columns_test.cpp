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

// With the columns that tell the rows apart.
TEST(Columns, PutsFurtherFiguresInATableBelow) {
  EXPECT_EQ(in_columns({{"batch", "dtype", "rate", "memory"},
                        {"1", "fp32", "100 ± 1", "10 MiB"},
                        {"1", "fp16", "200 ± 2", "5.0 MiB"}},
                       {true, false, true, true}, 28),
            "batch  dtype     rate\n    1  fp32   100 ± 1\n    1  fp16   200 ± 2\n\n"
            "batch  dtype   memory\n    1  fp32    10 MiB\n    1  fp16   5.0 MiB\n");
}

TEST(Columns, HaveWholeRowsInAFile) {
  const std::string word(80, 'x');
  EXPECT_EQ(in_columns({{word, word}}, {false, false}, kFileWidth), word + "  " + word + "\n");
}

}  // namespace
}  // namespace bench
