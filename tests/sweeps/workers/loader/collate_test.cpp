#include "sweeps/workers/loader/collate.h"

#include <vector>

#include <gtest/gtest.h>

#include "bench/stored.h"

namespace bench::loader {
namespace {

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
    EXPECT_EQ(halves[i], Fp16::from(singles[i]));
    EXPECT_EQ(brains[i], Bf16::from(planes[i]));
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
