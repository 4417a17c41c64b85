#include "bench/page/columns.h"
#include "bench/text/lines.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Columns, AreAsWideAsTheirWidestCells) {
  EXPECT_EQ(in_columns({{"batch", "rate"}, {1, "9 ± 1"}, {128, "100"}}, 80),
            "batch  rate\n    1  9 ± 1\n  128  100\n");
}

TEST(Columns, AreOfFiguresWhereOneCellIs) {
  EXPECT_EQ(in_columns({{"copies", "host bytes"}, {"pinned", "unsupported"}, {"pageable", Cell::none()}}, 80),
            "copies    host bytes\npinned    unsupported\npageable           –\n")
      << "a text that is wider than the figures takes the rest of the line";
}

TEST(Cells, HaveTheDigitsAndTheUnitOfTheirKind) {
  EXPECT_EQ(Cell(1234567).text, "1234567");
  EXPECT_EQ(Cell::bytes(3 << 20).text, "3.00 MiB");
  EXPECT_EQ(Cell::bytes(0).text, "–");
  EXPECT_EQ(Cell::share(0.874).text, "87 %");
  EXPECT_EQ(Cell::number(33.14, Interval{31.2, 35}).text, "33.1 ± 1.9");
  EXPECT_EQ(Cell::time(8.04e6, Interval{7.6e6, 8.4e6}).text, "8.0 ± 0.4 ms");
  EXPECT_EQ(Cell::time80(8.04e6, {7.1e6, 9.2e6}).text, "8.0 (7.1–9.2) ms");
  EXPECT_EQ(Cell::rate(1.23e10, "B/s").after("≤ ").text, "≤ 12.3 GB/s");
  EXPECT_EQ(Cell::times(1.657, Interval{0.82, 10.76}).text, "1.66 (0.82–10.76)");
}

TEST(Columns, BreaksTextWhereTheWidestCellsDoNotFit) {
  EXPECT_EQ(in_columns({{"name", "what it is"}, {"a", "one two three"}, {"bb", "four"}}, 12),
            "name  what\n      it is\na     one\n      two\n      three\nbb    four\n");
  EXPECT_EQ(in_columns({{"point", "n"}, {"transfer/h2d/pinned", 7}}, 14),
            "point        n\ntransfer/    7\nh2d/pinned\n");
}

// From the last to those that tell the rows apart; a mark stays.
TEST(Columns, AreLeftOutWhereTheWidthIsNotEnough) {
  const std::vector<Cells> rows{{"batch", "dtype", "rate", "memory", ""},
                                {1, "fp32", Cell::figure("100 ± 1"), Cell::bytes(10 << 20), "○"},
                                {1, "fp16", Cell::figure("200 ± 2"), Cell::bytes(5 << 20), ""}};
  EXPECT_EQ(in_columns(rows, 30),
            "batch  dtype     rate\n    1  fp32   100 ± 1  ○\n    1  fp16   200 ± 2\n"
            "A wider terminal also shows:\n  memory.\n");
  EXPECT_EQ(in_columns(rows, 20),
            "batch  dtype\n    1  fp32   ○\n    1  fp16\n"
            "A wider terminal\n  also shows: rate,\n  memory.\n");
}

// What the reader came for is left out after all others.
TEST(Columns, StayWhereTheirHeaderDoes) {
  const std::vector<Cells> rows{{"batch", "weights", "input", Cell::staying("total"), "other"},
                                {8, Cell::figure("1234567"), Cell::figure("1234567"), Cell::figure("1234567"),
                                 Cell::figure("1234567")}};
  EXPECT_EQ(in_columns(rows, 25),
            "batch  weights    total\n    8  1234567  1234567\n"
            "A wider terminal also\n  shows: input, other.\n");
  EXPECT_EQ(in_columns(rows, 15),
            "batch    total\n    8  1234567\n"
            "A wider\n  terminal also\n  shows:\n  weights,\n  input, other.\n");
}

}  // namespace
}  // namespace bench
