#include "bench/cli/text.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Text, ColumnsAreCharactersNotBytes) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("1 ± 2 µs"), 8U);
}

TEST(Text, CutKeepsCharactersWhole) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut("abc", 1), "…");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(Text, Wrap) {
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four\n");
  EXPECT_EQ(wrap("one  two", 80, 2), "one two\n");
  EXPECT_EQ(wrap("a incomprehensibilities b", 6, 1), "a\n incomprehensibilities\n b\n");
  EXPECT_EQ(wrap("", 10, 2), "\n");
  EXPECT_EQ(wrap("together at 99 %", 14, 2), "together at\n  99 %\n");
  EXPECT_EQ(wrap("% of 5 %; 6 %", 6, 1), "% of\n 5 %;\n 6 %\n");
}

TEST(Text, InColumns) {
  EXPECT_EQ(in_columns({{"batch", "rate"}, {"1", "9 ± 1"}, {"128", "100"}}, {true, false}, 80),
            "batch  rate\n    1  9 ± 1\n  128  100\n");
}

TEST(Text, InColumnsBreaksTextWhereTheWidestCellsDoNotFit) {
  EXPECT_EQ(in_columns({{"name", "what it is"}, {"a", "one two three"}, {"bb", "four"}}, {false, false}, 12),
            "name  what\n      it is\na     one\n      two\n      three\nbb    four\n");
  EXPECT_EQ(in_columns({{"point", "n"}, {"transfer/h2d/pinned", "7"}}, {false, true}, 14),
            "point        n\ntransfer/    7\nh2d/pinned\n");
}

TEST(Text, InAFileHas100ColumnsAndWholeRows) {
  EXPECT_EQ(text_width(kFileWidth), 100U);
  EXPECT_EQ(text_width(kFileWidth - 4), 96U);
  EXPECT_EQ(text_width(60), 60U);
  const std::string word(80, 'x');
  EXPECT_EQ(wrap(word + " " + word, kFileWidth, 2), word + "\n  " + word + "\n");
  EXPECT_EQ(in_columns({{word, word}}, {false, false}, kFileWidth), word + "  " + word + "\n");
}

// With the columns that tell the rows apart.
TEST(Text, InColumnsPutsFurtherFiguresInATableBelow) {
  EXPECT_EQ(in_columns({{"batch", "dtype", "rate", "memory"},
                        {"1", "fp32", "100 ± 1", "10 MiB"},
                        {"1", "fp16", "200 ± 2", "5.0 MiB"}},
                       {true, false, true, true}, 28),
            "batch  dtype     rate\n    1  fp32   100 ± 1\n    1  fp16   200 ± 2\n\n"
            "batch  dtype   memory\n    1  fp32    10 MiB\n    1  fp16   5.0 MiB\n");
}

TEST(Text, AnOptionsValueIsOneOfItsWordsOrLikeItsDefault) {
  EXPECT_EQ(value_name({.name = "height", .default_value = "56", .help = ""}), "N");
  EXPECT_EQ(value_name({.name = "bytes", .default_value = "1MiB", .help = ""}), "SIZE");
  EXPECT_EQ(value_name({.name = "in-flight", .default_value = "1,8", .help = ""}), "LIST");
  EXPECT_EQ(value_name({.name = "profile", .default_value = "none", .help = ""}), "VALUE");
  EXPECT_EQ(value_name({.name = "launch",
                        .default_value = "stream",
                        .help = "",
                        .words =
                            [] {
                              return std::vector<std::string>{"stream", "graph"};
                            }}),
            "stream|graph");
}

}  // namespace
}  // namespace bench
