#include "kernels/networks/onnx/constants/compact_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace bench::kernels::onnx {
namespace {

TEST(CompactNumbers, TakeAsManyBytesAsTheirWidest) {
  CompactNumbers numbers{1, -3};
  EXPECT_EQ(numbers.bytes(), 2 * 2U);
  numbers.push_back(40'000);
  EXPECT_EQ(numbers.bytes(), 3 * 4U);
  numbers.push_back(0.5);
  EXPECT_EQ(numbers.bytes(), 4 * 4U);
  numbers.push_back(0.1);
  EXPECT_EQ(numbers.bytes(), 5 * 8U);
  EXPECT_EQ(numbers.size(), 5U);
}

TEST(CompactNumbers, HoldEachNumberExactly) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> all{0,    -0.0, 7,          -32'768, 32'768, 1.5,       16'777'217, kInfinity,
                                1e40, 0.1,  -3.4028e38, 1e-300,  -1,     9.2233e18, -kInfinity};
  // Each number is the first one once.
  for (std::size_t first = 0; first < all.size(); ++first) {
    CompactNumbers numbers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      numbers.push_back(all[(first + i) % all.size()]);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double expected = all[(first + i) % all.size()];
      EXPECT_EQ(numbers[i], expected);
      EXPECT_EQ(std::signbit(numbers[i]), std::signbit(expected));
    }
  }
  EXPECT_TRUE(std::isnan(CompactNumbers{1, std::nan("")}[1]));
}

TEST(CompactNumbers, AreReplacedByWiderOnes) {
  CompactNumbers numbers{1, 2, 3};
  numbers.set(1, 1e9 + 0.5);
  EXPECT_EQ(numbers[0], 1);
  EXPECT_EQ(numbers[1], 1e9 + 0.5);
  EXPECT_EQ(numbers[2], 3);
  numbers.assign(std::size_t{4}, -2);
  EXPECT_EQ(numbers.size(), 4U);
  EXPECT_EQ(numbers.bytes(), 4 * 2U);
  EXPECT_EQ(numbers[3], -2);
}

}  // namespace
}  // namespace bench::kernels::onnx
