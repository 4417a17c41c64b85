#include "bench/text/lines.h"

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

TEST(Text, InAFileHas100Columns) {
  EXPECT_EQ(text_width(kFileWidth), 100U);
  EXPECT_EQ(text_width(kFileWidth - 4), 96U);
  EXPECT_EQ(text_width(60), 60U);
  const std::string word(80, 'x');
  EXPECT_EQ(wrap(word + " " + word, kFileWidth, 2), word + "\n  " + word + "\n");
}

}  // namespace
}  // namespace bench
