#include "bench/stored.h"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Fp16, RoundsToNearestEven) {
  EXPECT_EQ(Fp16::from(0.0F), 0x0000);
  EXPECT_EQ(Fp16::from(-0.0F), 0x8000);
  EXPECT_EQ(Fp16::from(1.0F), 0x3C00);
  EXPECT_EQ(Fp16::from(-2.0F), 0xC000);
  EXPECT_EQ(Fp16::from(0.1F), 0x2E66);
  EXPECT_EQ(Fp16::from(65504.0F), 0x7BFF);
  EXPECT_EQ(Fp16::from(65519.0F), 0x7BFF);
  EXPECT_EQ(Fp16::from(65520.0F), 0x7C00);
  EXPECT_EQ(Fp16::from(1e30F), 0x7C00);
  EXPECT_EQ(Fp16::from(1 + 0x1p-11F), 0x3C00);      // halfway, to even
  EXPECT_EQ(Fp16::from(1 + 3 * 0x1p-11F), 0x3C02);  // halfway, to even
  EXPECT_EQ(Fp16::from(0x1p-24F), 0x0001);          // the smallest
  EXPECT_EQ(Fp16::from(0x1p-14F), 0x0400);
  EXPECT_EQ(Fp16::from(0x1p-14F - 0x1p-26F), 0x0400);  // rounds up out of the subnormal range
  EXPECT_EQ(Fp16::from(1e-30F), 0x0000);
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(Bf16::from(1.0F), 0x3F80);
  EXPECT_EQ(Bf16::from(-2.0F), 0xC000);
  EXPECT_EQ(Bf16::from(0.1F), 0x3DCD);
  EXPECT_EQ(Bf16::from(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(Bf16::from(std::bit_cast<float>(0x3F818000U)), 0x3F82);
}

// Every finite value that is stored comes back as it was, and those that are none stay none.
TEST(Stored, ComesBackAsItWas) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    if (const float value = Fp16::to(stored); !std::isnan(value)) {
      ASSERT_EQ(Fp16::from(value), stored);
    }
    if (const float value = Bf16::to(stored); !std::isnan(value)) {
      ASSERT_EQ(Bf16::from(value), stored);
    }
  }
  const float none = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Fp16::to(Fp16::from(none))));
  EXPECT_TRUE(std::isnan(Bf16::to(Bf16::from(none))));
}

}  // namespace
}  // namespace bench
