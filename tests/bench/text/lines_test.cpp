#include "bench/text/lines.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Text, ColumnsAreCharactersNotBytes) {
  EXPECT_EQ(columns("abc"), 3U);
  EXPECT_EQ(columns("1 ± 2 µs"), 8U);
}

TEST(Text, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(columns("漢字"), 4U);
  EXPECT_EQ(columns("é e\u0301"), 3U) << "a combining mark has no column of its own";
  EXPECT_EQ(cut("漢字漢字", 6), "漢字…");
  EXPECT_EQ(cut("漢字漢字", 8), "漢字漢字");
  EXPECT_EQ(wrap("漢字漢字漢", 5, 1), "漢字\n 漢字\n 漢\n");
  EXPECT_EQ(wrap("abc 漢字", 5, 1), "abc\n 漢字\n");
}

TEST(Text, CutKeepsCharactersWhole) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut("abc", 1), "…");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(Text, CutAtAWordKeepsANumberWithItsUnit) {
  const std::string text = "needs 1007 MiB (predicted), 99 % of it";
  EXPECT_EQ(cut_at_word(text, 38), text);
  EXPECT_EQ(cut_at_word(text, 37), "needs 1007 MiB (predicted)…");
  EXPECT_EQ(cut_at_word(text, 28), "needs 1007 MiB (predicted)…");
  EXPECT_EQ(cut_at_word(text, 15), "needs 1007 MiB…");
  EXPECT_EQ(cut_at_word(text, 14), "needs…");
  EXPECT_EQ(cut_at_word(text, 4), "nee…");
}

TEST(Text, Wrap) {
  EXPECT_EQ(wrap("one two three four", 9, 2), "one two\n  three\n  four\n");
  EXPECT_EQ(wrap("one  two", 80, 2), "one two\n");
  EXPECT_EQ(wrap("a incomprehensibilities b", 6, 1), "a\n incom\n prehe\n nsibi\n litie\n s b\n");
  EXPECT_EQ(wrap("of gemm/forward/fp32", 11, 2), "of\n  gemm/\n  forward/\n  fp32\n");
  EXPECT_EQ(wrap("µµµµµ", 3, 2), "µµµ\n  µ\n  µ\n") << "characters stay whole";
  EXPECT_EQ(wrap("", 10, 2), "\n");
  EXPECT_EQ(wrap("together at 99 %", 14, 2), "together at\n  99 %\n");
  EXPECT_EQ(wrap("% of 5 %; 6 %", 6, 1), "% of\n 5 %;\n 6 %\n");
}

// A path can be copied: it is not broken.
TEST(Text, WrapsAroundAPath) {
  EXPECT_EQ(wrap_with_whole("kept in", "/a b", "(new)", 20), "kept in /a b (new)\n");
  EXPECT_EQ(wrap_with_whole("kept in", "/a b", "(new)", 14), "kept in /a b\n  (new)\n");
  EXPECT_EQ(wrap_with_whole("what is kept is in", "/a b/c", "", 14), "what is kept\n  is in /a b/c\n");
  EXPECT_EQ(wrap_with_whole("kept in", "/a b/c/d/e/f", "", 10), "kept in\n  /a b/c/d/e/f\n");
}

TEST(Text, HangingBreaksALongOptionBehindABar) {
  EXPECT_EQ(hanging("  --how best|other|worst|none", "it is done", 6, 20),
            "  --how best|other|\n      worst|none\n      it is done\n");
}

}  // namespace
}  // namespace bench
