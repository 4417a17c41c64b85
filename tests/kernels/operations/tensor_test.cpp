// Layouts, rounding, comparison and random values of kernels/operations/tensor.h.
#include "kernels/operations/tensor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(TensorDesc, BytesCountChannelPadding) {
  TensorDesc desc{.n = 2, .c = 17, .h = 3, .w = 5, .layout = Layout::nhwc};
  EXPECT_EQ(desc.bytes(), 2 * 17 * 3 * 5 * 4);
  desc.layout = Layout::nchw16c;
  EXPECT_EQ(desc.bytes(), 2 * 32 * 3 * 5 * 4);
  EXPECT_EQ(desc.elements(), 2 * 17 * 3 * 5);
  desc.dtype = Dtype::bf16;
  EXPECT_EQ(desc.bytes(), 2 * 32 * 3 * 5 * 2);
}

TEST(Store, PutsElementsWhereTheLayoutSays) {
  const std::vector<float> nchw{1, 2, 3, 4, 5, 6};  // two channels of one row of three
  TensorDesc desc{.n = 1, .c = 2, .h = 1, .w = 3, .layout = Layout::nchw};
  std::vector<float> stored(6);
  store(desc, nchw, stored.data());
  EXPECT_EQ(stored, nchw);
  desc.layout = Layout::nhwc;
  store(desc, nchw, stored.data());
  EXPECT_THAT(stored, ElementsAre(1, 4, 2, 5, 3, 6));
  desc.layout = Layout::nchw16c;
  std::vector<float> blocked(48, -1.0F);
  store(desc, nchw, blocked.data());
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(blocked[w * 16], nchw[w]);
    EXPECT_EQ(blocked[w * 16 + 1], nchw[3 + w]);
    EXPECT_TRUE(std::all_of(&blocked[w * 16 + 2], &blocked[w * 16] + 16, [](float x) { return x == 0; }));
  }
}

TEST(Store, LoadGivesItBack) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc, Layout::nchw16c}) {
    for (const Dtype dtype : kAllDtypes) {
      for (const std::int64_t channels : {1, 16, 19, 33}) {
        const TensorDesc desc{.n = 3, .c = channels, .h = 4, .w = 5, .layout = layout, .dtype = dtype};
        std::vector<float> values(static_cast<std::size_t>(desc.elements()));
        std::iota(values.begin(), values.end(), -100.0F);
        for (float& value : values) {
          value = std::fmod(value, 128.0F);  // integers that every dtype holds
        }
        std::vector<std::byte> stored(static_cast<std::size_t>(desc.bytes()));
        store(desc, values, stored.data());
        std::vector<float> loaded(values.size());
        load(desc, stored.data(), loaded);
        EXPECT_EQ(loaded, values) << name_of(layout) << " " << name_of(dtype) << " c" << channels;
      }
    }
  }
}

TEST(Store, RefusesTheWrongNumberOfValues) {
  const TensorDesc desc{.n = 1, .c = 2, .h = 1, .w = 3};
  std::vector<float> five(5);
  std::vector<float> stored(6);
  EXPECT_THROW(store(desc, five, stored.data()), std::invalid_argument);
  EXPECT_THROW(load(desc, stored.data(), five), std::invalid_argument);
}

std::uint16_t bits_of(Dtype dtype, float value) {
  std::uint16_t stored = 0;
  store({.n = 1, .c = 1, .dtype = dtype}, std::span(&value, 1), &stored);
  return stored;
}

float value_of(Dtype dtype, std::uint16_t stored) {
  float value = 0;
  load({.n = 1, .c = 1, .dtype = dtype}, &stored, std::span(&value, 1));
  return value;
}

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(bits_of(Dtype::bf16, 1.0F), 0x3f80);
  EXPECT_EQ(bits_of(Dtype::bf16, 1.0F + 0x1p-8F), 0x3f80);             // halfway, down to even
  EXPECT_EQ(bits_of(Dtype::bf16, 1.0F + 0x1p-7F + 0x1p-8F), 0x3f82);   // halfway, up to even
  EXPECT_EQ(bits_of(Dtype::bf16, 1.0F + 0x1p-8F + 0x1p-20F), 0x3f81);  // above halfway
  EXPECT_EQ(bits_of(Dtype::bf16, -kInfinity), 0xff80);
  EXPECT_EQ(bits_of(Dtype::bf16, std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(value_of(Dtype::bf16, bits_of(Dtype::bf16, std::nanf("")))));
}

TEST(Fp16, RoundsToNearestEven) {
  EXPECT_EQ(bits_of(Dtype::fp16, 1.0F), 0x3c00);
  EXPECT_EQ(bits_of(Dtype::fp16, -2.0F), 0xc000);
  EXPECT_EQ(bits_of(Dtype::fp16, 1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(bits_of(Dtype::fp16, 1.0F + 0x1p-10F + 0x1p-11F), 0x3c02);
  EXPECT_EQ(bits_of(Dtype::fp16, 65504.0F), 0x7bff);
  EXPECT_EQ(bits_of(Dtype::fp16, 65519.0F), 0x7bff);
  EXPECT_EQ(bits_of(Dtype::fp16, 65520.0F), 0x7c00);  // halfway to 2^16
  EXPECT_EQ(bits_of(Dtype::fp16, 0x1p-24F), 0x0001);  // the smallest subnormal
  EXPECT_EQ(bits_of(Dtype::fp16, 0x1p-25F), 0x0000);
  EXPECT_EQ(bits_of(Dtype::fp16, 0x1p-14F - 0x1p-26F), 0x0400);  // a subnormal that rounds up to a normal
  EXPECT_TRUE(std::isnan(value_of(Dtype::fp16, bits_of(Dtype::fp16, std::nanf("")))));
}

TEST(Fp16AndBf16, EveryValueSurvivesTheRoundTrip) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = value_of(dtype, static_cast<std::uint16_t>(bits));
      if (!std::isnan(value)) {
        ASSERT_EQ(bits_of(dtype, value), bits) << name_of(dtype);
      }
    }
  }
}

TEST(RelativeError, IsADistanceOverALength) {
  EXPECT_DOUBLE_EQ(relative_error(std::vector<float>{3, 4}, std::vector<float>{3, 4}), 0);
  EXPECT_DOUBLE_EQ(relative_error(std::vector<float>{3, 5}, std::vector<float>{3, 4}), 0.2);
  EXPECT_DOUBLE_EQ(relative_error(std::vector<float>{3, 4}, std::vector<float>{0, 0}), 5);
}

TEST(RelativeError, IsInfiniteWhereAValueIsNotFinite) {
  const std::vector<float> ones{1, 1};
  EXPECT_EQ(relative_error(std::vector<float>{1, std::nanf("")}, ones), kInfinity);
  EXPECT_EQ(relative_error(std::vector<float>{1, kInfinity}, ones), kInfinity);
  EXPECT_EQ(relative_error(ones, std::vector<float>{1, kInfinity}), kInfinity);
  EXPECT_THROW(relative_error(ones, std::vector<float>{1}), std::invalid_argument);
}

TEST(FillRandom, IsSeededBoundedAndNeverZero) {
  std::vector<float> a(10000);
  std::vector<float> b(10000);
  fill_random(a, 1, 0);
  fill_random(b, 1, 0);
  EXPECT_EQ(a, b);
  for (const auto& [seed, stream] : {std::pair{2, 0}, {1, 1}, {0, 1}}) {
    fill_random(b, static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(stream));
    EXPECT_NE(a, b);
    EXPECT_GT(relative_error(a, b), 1.0);  // unrelated, not shifted or scaled
  }
  EXPECT_TRUE(std::ranges::all_of(a, [](float x) { return x > -1 && x < 1 && x != 0; }));
  const double mean = std::accumulate(a.begin(), a.end(), 0.0) / 10000;
  EXPECT_NEAR(mean, 0, 0.03);  // five standard deviations
  EXPECT_GT((std::set<float>(a.begin(), a.end()).size()), 9900U);
}

TEST(FillRandom, BeginsTheSameWhateverTheLength) {
  std::vector<float> two(2);
  std::vector<float> ten(10);
  fill_random(two, 7, 3);
  fill_random(ten, 7, 3);
  EXPECT_THAT(two, ElementsAre(ten[0], ten[1]));
}

}  // namespace
}  // namespace bench::kernels
