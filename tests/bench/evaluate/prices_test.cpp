#include "bench/evaluate/prices.h"

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    parse_prices(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Prices, AreHireByTheHourOrPurchase) {
  const PriceList list = parse_prices("t4=0.35/h,rtx3060-12gb=280");
  EXPECT_TRUE(list.by_device.at("t4").is_hire);
  EXPECT_DOUBLE_EQ(list.by_device.at("t4").amount, 0.35);
  EXPECT_FALSE(list.by_device.at("rtx3060-12gb").is_hire);
  EXPECT_DOUBLE_EQ(list.by_device.at("rtx3060-12gb").amount, 280);
  EXPECT_EQ(list.currency, "");
}

TEST(Prices, TakeAnHourInFull) {
  const PriceList list = parse_prices("t4=$0.35/hour");
  EXPECT_TRUE(list.by_device.at("t4").is_hire);
  EXPECT_DOUBLE_EQ(list.by_device.at("t4").amount, 0.35);
}

TEST(Prices, TakeNoCommaInANumber) {
  for (const char* const text : {"t4=0,35/h", "t4=0,35/h,cpu=1/h", "t4=1,200", "t4=1/h,cpu=0,35EUR"}) {
    expect_words(refusal_of(text));
  }
  EXPECT_EQ(refusal_of("t4=280,3060=300"), "accepted");
}

TEST(Prices, AreRenamedOnce) {
  const auto first_letter = [](const std::string& name) { return name.substr(0, 1); };
  EXPECT_DOUBLE_EQ(renamed(parse_prices("t4=$30,cpu=40"), first_letter).by_device.at("c").amount, 40);
  EXPECT_THROW(renamed(parse_prices("t4=30,tesla=40"), first_letter), UsageError);
}

TEST(Prices, TakeACurrencyBeforeOrAfter) {
  for (const char* const text : {"t4=€0.35/h", "t4=0.35€/h", "t4=€ 0.35 /h"}) {
    EXPECT_EQ(parse_prices(text).currency, "€") << text;
    EXPECT_DOUBLE_EQ(parse_prices(text).by_device.at("t4").amount, 0.35) << text;
  }
  EXPECT_EQ(parse_prices("a=280EUR,b=EUR 300, c = 20").currency, "EUR");
  EXPECT_EQ(parse_prices("a=280EUR,b=EUR 300, c = 20").by_device.count("c"), 1U);
}

TEST(Prices, RefuseWhatCouldBeEither) {
  expect_words(refusal_of("t4=0.35"));
  expect_words(refusal_of("t4=$19.99"));
  EXPECT_EQ(refusal_of("t4=20"), "accepted");
}

TEST(Prices, RefuseWhatIsNone) {
  expect_words(refusal_of("t4"));
  expect_words(refusal_of("0.35/h"));
  expect_words(refusal_of(""));
  expect_words(refusal_of("t4=0.35/h,"));
  for (const char* const text : {"t4=", "t4=cheap", "t4=-1/h", "t4=0/h", "t4=nan/h", "t4=inf", "t4=1e3",
                                 "t4=0.35/day", "t4=$€1/h", "t4=EUR"}) {
    expect_words(refusal_of(text));
  }
  expect_words(refusal_of("t4=1/h,t4=2/h"));
  expect_words(refusal_of("a=$1/h,b=€2/h"));
}

TEST(Prices, OfAnHourInUse) {
  PriceList list;
  list.years = 2;
  list.hours_a_day = 10;
  EXPECT_DOUBLE_EQ(cost_per_hour({.amount = 0.5, .is_hire = true}, list, 100), 0.5);
  EXPECT_DOUBLE_EQ(cost_per_hour({.amount = 730, .is_hire = false}, list, 100), 0.1);
  list.kwh = 0.3;
  EXPECT_DOUBLE_EQ(cost_per_hour({.amount = 730, .is_hire = false}, list, 100), 0.13);
  EXPECT_DOUBLE_EQ(cost_per_hour({.amount = 730, .is_hire = false}, list, std::nullopt), 0.1);
  EXPECT_DOUBLE_EQ(cost_per_hour({.amount = 0.5, .is_hire = true}, list, 100), 0.5);
}

TEST(Prices, TakePositiveNumbersUpToALimit) {
  EXPECT_DOUBLE_EQ(parse_positive("--years", "2.5", 100), 2.5);
  for (const char* const text : {"0", "-1", "101", "x", "", "1 "}) {
    EXPECT_THROW(parse_positive("--years", text, 100), UsageError) << text;
  }
}

}  // namespace
}  // namespace bench
