#include "bench/measure/quote.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Quote, PlainTextStaysAsItIs) {
  EXPECT_EQ(quote("net5"), "'net5'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("Größe ± 日本 🙂"), "'Größe ± 日本 🙂'");
}

TEST(Quote, ControlCharactersAreEscaped) {
  EXPECT_EQ(quote("a\nb\tc\rd"), R"('a\nb\tc\rd')");
  EXPECT_EQ(quote("\x1b[31mred\x7f"), R"('\x1b[31mred\x7f')");
  EXPECT_EQ(quote(std::string_view("a\0b", 3)), R"('a\x00b')");
  // U+009B, which starts a command as ESC [ does.
  EXPECT_EQ(quote("\xc2\x9b"
                  "31m"),
            R"('\xc2\x9b31m')");
}

TEST(Quote, WhatIsNotUtf8IsEscaped) {
  EXPECT_EQ(quote("\xff"), R"('\xff')");
  EXPECT_EQ(quote("\xc3"), R"('\xc3')");
  EXPECT_EQ(quote("\xe2\x82z"), R"('\xe2\x82z')");
  EXPECT_EQ(quote("\xbfz"), R"('\xbfz')");
}

TEST(Quote, LongTextIsCutBetweenCharacters) {
  EXPECT_EQ(printable("12345", 5), "12345");
  EXPECT_EQ(printable("123456", 5), "12345…");
  EXPECT_EQ(printable("ßßß", 2), "ßß…");
  EXPECT_EQ(printable("\n\n\n", 2), R"(\n\n…)");
  EXPECT_EQ(quote(std::string(100'000, 'x')), "'" + std::string(kLongestQuote, 'x') + "…'");
}

}  // namespace
}  // namespace bench
