#include "bench/text/quote.h"

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

TEST(Quote, WhatTurnsTheWritingDirectionOrSplitsALineIsEscaped) {
  EXPECT_EQ(quote("a\u202Eb"), R"('a\xe2\x80\xaeb')");
  EXPECT_EQ(quote("\u061C\u200F\u2028\u2069"), R"('\xd8\x9c\xe2\x80\x8f\xe2\x80\xa8\xe2\x81\xa9')");
  EXPECT_EQ(quote("\u200D\u2010\u202F\u2065\u206A"), "'\u200D\u2010\u202F\u2065\u206A'");
  EXPECT_EQ(quote("שלום"), "'שלום'");
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

TEST(InertJson, IsTheSameValue) {
  EXPECT_EQ(inert_json("{\n \"µs\": \"a\u202E\u009B\x7F\"\n}"), "{\n \"µs\": \"a\\u202e\\u009b\\u007f\"\n}");
}

}  // namespace
}  // namespace bench
