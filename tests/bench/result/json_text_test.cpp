#include "bench/result/json_text.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"

namespace bench {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

std::string refusal_of(const std::string& text) {
  try {
    parse_json(text, "x.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(JsonText, IsTheValueThatTheLibraryReads) {
  for (
      const std::string text :
      {R"({"b": [1, -2, 3.5, 18446744073709551615, [], {}], "a": {"x": null, "y": [true, false]}, "c": "ä\u0041\n"})",
       "[]", "{}", "null", "\"text\"", " 1e3 ", "[[[]], [{}], 1]"}) {
    EXPECT_EQ(parse_json(text, "x").dump(), Json::parse(text).dump()) << text;
    EXPECT_EQ(parse_json(text, "x"), Json::parse(text)) << text;
  }
}

TEST(JsonText, AKeyTwiceInOneObjectIsNamedWithItsPlace) {
  EXPECT_EQ(refusal_of(R"({"a": 1, "b": 2, "a": 3})"), "x.json has the key 'a' twice in one object");
  EXPECT_EQ(refusal_of(R"({"n": {}, "p": [{}, 7, {"q": {"k": 1, "k": 1}}]})"),
            "x.json has the key 'k' twice in one object, p[2].q");
  EXPECT_EQ(refusal_of(R"([[{"k": [1, 2], "k": 1}]])"), "x.json has the key 'k' twice in one object, [0][0]");
  EXPECT_EQ(refusal_of(R"({"\u0061": 1, "a": 3})"), "x.json has the key 'a' twice in one object");
  EXPECT_EQ(refusal_of(R"({"a\nb": {"k": 1, "k": 1}})"),
            R"(x.json has the key 'k' twice in one object, a\nb)");
  EXPECT_EQ(refusal_of(R"([{"a": 1}, {"a": {"a": 1}}])"), "nothing thrown") << "of several objects";
}

TEST(JsonText, WhatIsNotJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_of(""), "x.json is truncated: the JSON ends too early, after 0 bytes");
  EXPECT_EQ(refusal_of(R"({"a": [1, 2)"), "x.json is truncated: the JSON ends too early, after 11 bytes");
  EXPECT_EQ(refusal_of(R"({"a": NaN})"), "x.json is not JSON: the error is at byte 7");
  EXPECT_EQ(refusal_of("{} {}"), "x.json is not JSON: the error is at byte 4");
  EXPECT_EQ(refusal_of("[1e999]"), "x.json holds a number too large to be read");
}

TEST(JsonText, BracketsMayOpenSoDeepOutsideOfText) {
  const auto nested = [](std::size_t depth) { return repeated("[", depth) + repeated("]", depth); };
  EXPECT_EQ(refusal_of(nested(kDeepestJson)), "nothing thrown");
  EXPECT_EQ(refusal_of(nested(kDeepestJson + 1)), "x.json opens brackets more than 100 deep");
  EXPECT_EQ(refusal_of(repeated("{\"a\":", 1'000'000)), "x.json opens brackets more than 100 deep");
  EXPECT_EQ(refusal_of("\"" + repeated("[", 1000) + "\""), "nothing thrown");
}

TEST(JsonText, AnObjectMayHaveSoManyMembers) {
  const auto with = [](std::size_t members) {
    std::string text = R"({"o": {"0": 0)";
    for (std::size_t i = 1; i < members; ++i) {
      text += ",\"" + std::to_string(i) + "\":0";
    }
    return text + "}}";
  };
  EXPECT_EQ(refusal_of(with(kMostMembers)), "nothing thrown");
  EXPECT_EQ(refusal_of(with(kMostMembers + 1)), "x.json has more than 10000 members in one object, o");
}

// Or 64 MB of JSON would take 2 GB of memory and ten seconds and more.
TEST(JsonText, AllOfItMayHaveSoManyValues) {
  const auto with = [](std::size_t values) { return "[" + repeated("0,", values - 2) + "0]"; };
  EXPECT_EQ(refusal_of(with(kMostValues)), "nothing thrown");
  EXPECT_EQ(refusal_of(with(kMostValues + 1)), "x.json has more than 4000000 values");
}

}  // namespace
}  // namespace bench
