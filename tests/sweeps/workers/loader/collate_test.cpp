#include "sweeps/workers/loader/collate.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace bench::loader {
namespace {

TEST(HalfBits, RoundsToNearestEven) {
  EXPECT_EQ(half_bits(0.0F), 0x0000);
  EXPECT_EQ(half_bits(-0.0F), 0x8000);
  EXPECT_EQ(half_bits(1.0F), 0x3C00);
  EXPECT_EQ(half_bits(-2.0F), 0xC000);
  EXPECT_EQ(half_bits(0.1F), 0x2E66);
  EXPECT_EQ(half_bits(65504.0F), 0x7BFF);
  EXPECT_EQ(half_bits(65519.0F), 0x7BFF);
  EXPECT_EQ(half_bits(65520.0F), 0x7C00);
  EXPECT_EQ(half_bits(1e30F), 0x7C00);
  EXPECT_EQ(half_bits(1 + 0x1p-11F), 0x3C00);      // halfway, to even
  EXPECT_EQ(half_bits(1 + 3 * 0x1p-11F), 0x3C02);  // halfway, to even
  EXPECT_EQ(half_bits(0x1p-24F), 0x0001);          // the smallest
  EXPECT_EQ(half_bits(0x1p-14F), 0x0400);
  EXPECT_EQ(half_bits(0x1p-14F - 0x1p-26F), 0x0400);  // rounds up out of the subnormal range
  EXPECT_EQ(half_bits(1e-30F), 0x0000);
}

TEST(BfloatBits, RoundsToNearestEven) {
  EXPECT_EQ(bfloat_bits(1.0F), 0x3F80);
  EXPECT_EQ(bfloat_bits(-2.0F), 0xC000);
  EXPECT_EQ(bfloat_bits(0.1F), 0x3DCD);
  EXPECT_EQ(bfloat_bits(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(bfloat_bits(std::bit_cast<float>(0x3F818000U)), 0x3F82);
}

// Two by two pixels; the fourth byte is of no account.
const std::vector<std::uint8_t> kPixels{0, 10, 20, 99, 30, 40, 50, 99, 60, 70, 80, 99, 90, 100, 255, 99};

Transform transform(Element element, ImageLayout layout) {
  Transform made;
  made.image_size = 2;
  made.element = element;
  made.layout = layout;
  return made;
}

template <class Value>
std::vector<Value> stored(const Transform& transform) {
  std::vector<Value> sample(12);
  EXPECT_EQ(static_cast<std::int64_t>(sample.size() * sizeof(Value)), transform.sample_bytes());
  Collator(transform).store(kPixels.data(), reinterpret_cast<std::byte*>(sample.data()));
  return sample;
}

float normalised(int value, std::size_t channel) {
  const Transform defaults;
  return (static_cast<float>(value) / 255 - defaults.mean[channel]) / defaults.deviation[channel];
}

TEST(Collator, StoresEveryElementAndLayout) {
  const std::vector<int> last{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 255};
  const std::vector<int> first{0, 30, 60, 90, 10, 40, 70, 100, 20, 50, 80, 255};
  const auto singles = stored<float>(transform(Element::fp32, ImageLayout::nhwc));
  const auto planes = stored<float>(transform(Element::fp32, ImageLayout::nchw));
  const auto halves = stored<std::uint16_t>(transform(Element::fp16, ImageLayout::nhwc));
  const auto brains = stored<std::uint16_t>(transform(Element::bf16, ImageLayout::nchw));
  const auto bytes = stored<std::uint8_t>(transform(Element::uint8, ImageLayout::nhwc));
  const auto byte_planes = stored<std::uint8_t>(transform(Element::uint8, ImageLayout::nchw));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(singles[i], normalised(last[i], i % 3), 1e-6);
    EXPECT_NEAR(planes[i], normalised(first[i], i / 4), 1e-6);
    EXPECT_EQ(halves[i], half_bits(singles[i]));
    EXPECT_EQ(brains[i], bfloat_bits(planes[i]));
    EXPECT_EQ(bytes[i], last[i]);
    EXPECT_EQ(byte_planes[i], first[i]);
  }
}

// 5 x 5 pixels: eights, and one that is left over.
TEST(Collator, GivesTheSameBitsInEveryWay) {
  if (!wide_floats_usable()) {
    GTEST_SKIP() << "this processor has one way only";
  }
  for (const Element element : {Element::fp32, Element::fp16, Element::bf16, Element::uint8}) {
    for (const ImageLayout layout : {ImageLayout::nchw, ImageLayout::nhwc}) {
      Transform of = transform(element, layout);
      for (const std::int64_t size : {5, 16}) {
        of.image_size = size;
        std::vector<std::uint8_t> pixels(static_cast<std::size_t>(4 * size * size));
        for (std::size_t i = 0; i < pixels.size(); ++i) {
          pixels[i] = static_cast<std::uint8_t>(i * 37);
        }
        std::vector<std::byte> narrow(static_cast<std::size_t>(of.sample_bytes()));
        std::vector<std::byte> wide(narrow.size());
        Collator(of, false).store(pixels.data(), narrow.data());
        Collator(of, true).store(pixels.data(), wide.data());
        EXPECT_EQ(narrow, wide) << static_cast<int>(element) << static_cast<int>(layout) << size;
      }
    }
  }
}

}  // namespace
}  // namespace bench::loader
