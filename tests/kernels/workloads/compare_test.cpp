#include "kernels/workloads/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bench::kernels {
namespace {

const std::vector<std::vector<float>> kExpected{{3, 4}, {0, 10}};

TEST(Compare, RowsRepeatTheDistinctSamples) {
  const std::vector<float> right{3, 4, 0, 10, 3, 4};
  const Verification result = compare_rows(right, kExpected, 1e-3, "pairs");
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(result.tolerance, 1e-3);
  EXPECT_NE(result.detail.find("3 rows of 2 values (pairs)"), std::string::npos) << result.detail;
}

TEST(Compare, WorstRowDecides) {
  const std::vector<float> wrong{3, 4, 0, 10, 3, 4.5};
  const Verification result = compare_rows(wrong, kExpected, 0.05, "pairs");
  EXPECT_FALSE(result.passed);
  EXPECT_DOUBLE_EQ(result.error, 0.1);
  EXPECT_NE(result.detail.find("row 2 is off by 0.1"), std::string::npos) << result.detail;
  EXPECT_NE(result.detail.find("value 1 is 4.5 instead of 4"), std::string::npos) << result.detail;
}

TEST(Compare, SwappedRowsFail) {
  EXPECT_FALSE(compare_rows(std::vector<float>{0, 10, 3, 4}, kExpected, 0.1, "").passed);
}

TEST(Compare, WhatIsNotFiniteFails) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const Verification result = compare_rows(std::vector<float>{3, 4, 0, bad}, kExpected, 1e9, "");
    EXPECT_FALSE(result.passed);
    EXPECT_TRUE(std::isinf(result.error));
    EXPECT_NE(result.detail.find("row 1"), std::string::npos) << result.detail;
  }
}

TEST(Compare, NothingAndPartsOfRowsFail) {
  EXPECT_FALSE(compare_rows({}, kExpected, 1, "").passed);
  EXPECT_FALSE(compare_rows(std::vector<float>{3, 4, 0}, kExpected, 1, "").passed);
  EXPECT_FALSE(compare_rows(std::vector<float>{3, 4}, {}, 1, "").passed);
}

}  // namespace
}  // namespace bench::kernels
