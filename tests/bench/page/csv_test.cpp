#include "bench/page/csv.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Csv, QuotesWhatHoldsACommaOrAQuote) {
  EXPECT_EQ(csv_table({{"name", "value"}, {"a, b", "say \"x\""}}),
            "name,value\n\"a, b\",\"say \"\"x\"\"\"\n");
}

TEST(Csv, AForeignTextIsNoFormulaAndEndsNoLine) {
  EXPECT_EQ(csv_table({{"=cmd|'/C calc'!A1", "@SUM(A1)", "+1+1", "-2+3"}}),
            "'=cmd|'/C calc'!A1,'@SUM(A1),'+1+1,'-2+3\n");
  EXPECT_EQ(csv_table({{"-1.5", "+5e3", "-", "+", "batch:1", "-inf"}}), "-1.5,+5e3,-,+,batch:1,-inf\n");
  EXPECT_EQ(csv_table({{"a\nb", "\x1b[31m", "\r"}}), "a\\nb,\\x1b[31m,\\r\n");
}

TEST(Csv, ANumberThatIsNotKnownIsEmpty) {
  EXPECT_EQ(csv_number(1.0 / 3), "0.333333");
  EXPECT_EQ(csv_number(std::nullopt), "");
}

}  // namespace
}  // namespace bench
