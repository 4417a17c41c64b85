#include "sweeps/workers/loader/sample_maker.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/stats/random.h"
#include "jpegs.h"
#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/resize.h"
#include "sweeps/workers/loader/synthetic.h"
#include "tests/bench/support/golden_words.h"

namespace bench::loader {
namespace {

Transform bytes_of_size(std::int64_t size) {
  Transform transform;
  transform.image_size = size;
  transform.element = Element::uint8;
  return transform;
}

std::vector<std::uint8_t> made(const Transform& transform, std::span<const std::byte> encoded,
                               std::uint64_t seed) {
  std::vector<std::uint8_t> sample(static_cast<std::size_t>(transform.sample_bytes()));
  SampleMaker(transform, steady_clock()).make(encoded, seed, reinterpret_cast<std::byte*>(sample.data()));
  return sample;
}

// The same crop from the fully decoded image.
std::vector<std::uint8_t> expected(const Transform& transform, std::span<const std::byte> encoded, int width,
                                   int height, std::uint64_t seed) {
  auto pixels = decoded_fully(encoded);
  pixels.resize(pixels.size() + static_cast<std::size_t>(4 * width) + kSlack);
  const CropAndFlip drawn = random_crop_and_flip(width, height, transform, seed);
  const int size = static_cast<int>(transform.image_size);
  std::vector<std::uint8_t> resized(static_cast<std::size_t>(4 * size * size));
  Resizer(Instructions::portable)
      .resize({.data = pixels.data(),
               .stride = static_cast<std::size_t>(4 * width),
               .width = width,
               .height = height},
              {.left = static_cast<double>(drawn.crop.x),
               .top = static_cast<double>(drawn.crop.y),
               .right = static_cast<double>(drawn.crop.x + drawn.crop.width),
               .bottom = static_cast<double>(drawn.crop.y + drawn.crop.height)},
              size, drawn.flip, resized.data());
  std::vector<std::uint8_t> sample;
  for (std::size_t i = 0; i < resized.size(); ++i) {
    if (i % 4 != 3) {
      sample.push_back(resized[i]);
    }
  }
  return sample;
}

double mean_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(a[i] - b[i]);
  }
  return sum / static_cast<double>(a.size());
}

TEST(SampleMaker, GivesWhatFullDecodingGivesWhereNothingIsReducedMuch) {
  const Transform transform = bytes_of_size(64);
  const auto encoded = make_jpeg({.width = 180, .height = 140});
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    ASSERT_EQ(made(transform, encoded, seed), expected(transform, encoded, 180, 140, seed)) << seed;
  }
}

TEST(SampleMaker, StaysCloseWhereItDecodesAtASmallerSize) {
  const SyntheticImage picture = synthetic_image(3);
  const auto encoded = encoded_jpeg(picture, 92);
  int reduced = 0;
  for (const std::int64_t size : {16, 32, 48, 80}) {
    const Transform transform = bytes_of_size(size);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      reduced += decoded_eighths(random_crop_and_flip(picture.width, picture.height, transform, seed).crop,
                                 static_cast<int>(size)) < 8
                     ? 1
                     : 0;
      EXPECT_LT(mean_difference(made(transform, encoded, seed),
                                expected(transform, encoded, picture.width, picture.height, seed)),
                2)
          << size << " " << seed;
    }
  }
  EXPECT_GT(reduced, 20);
}

TEST(SampleMaker, IsDecidedByTheSeedAloneWhateverCameBefore) {
  const Transform transform;
  const auto encoded = make_jpeg({.width = 300, .height = 200});
  const auto other = make_jpeg({.width = 90, .height = 400, .components = 1, .progressive = true}, 9);
  const auto size = static_cast<std::size_t>(transform.sample_bytes());
  std::vector<std::byte> first(size);
  std::vector<std::byte> again(size);
  std::vector<std::byte> changed(size);
  SampleMaker maker(transform, steady_clock());
  maker.make(encoded, 5, first.data());
  maker.make(other, 6, again.data());
  EXPECT_THROW(maker.make(std::span(encoded).first(500), 7, again.data()), BadImage);
  maker.make(encoded, 5, again.data());
  maker.make(encoded, 8, changed.data());
  EXPECT_EQ(first, again);
  EXPECT_NE(first, changed);
  EXPECT_GT(maker.scratch_bytes(), 4 * 224 * 224);
}

TEST(SampleMaker, TakesTheSmallestAndNarrowestImages) {
  const Transform transform = bytes_of_size(20);
  for (const auto& [width, height] : {std::pair{1, 1}, {1, 900}, {900, 1}, {2, 3}, {8, 8}, {17, 1}}) {
    for (const bool progressive : {false, true}) {
      const auto encoded = make_jpeg({.width = width, .height = height, .progressive = progressive});
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        EXPECT_EQ(made(transform, encoded, seed).size(), 1200U);
      }
    }
  }
}

TEST(SampleMaker, GivesUpWithinAnImage) {
  const Transform transform = bytes_of_size(64);
  const auto encoded = make_jpeg({.width = 400, .height = 300});
  std::vector<std::byte> sample(static_cast<std::size_t>(transform.sample_bytes()));
  int asked = 0;
  SampleMaker maker(transform, steady_clock(), [&] { return ++asked == 3; });
  EXPECT_THROW(maker.make(encoded, 1, sample.data()), Cancelled);
  EXPECT_EQ(asked, 3);
  EXPECT_NO_THROW(maker.make(encoded, 1, sample.data()));
}

TEST(SampleMaker, RefusesTooManyPixels) {
  Transform transform = bytes_of_size(20);
  transform.most_pixels = 64 * 48 - 1;
  expect_words(message_of<BadImage>([&] { made(transform, make_jpeg({}), 1); }));
}

TEST(SampleMaker, TimesItsStages) {
  const Transform transform;
  std::vector<std::byte> sample(static_cast<std::size_t>(transform.sample_bytes()));
  const StageTimes times =
      SampleMaker(transform, steady_clock()).make(make_jpeg({.width = 400, .height = 300}), 1, sample.data());
  EXPECT_EQ(times.read, 0);
  EXPECT_GT(times.decode, 0);
  EXPECT_GT(times.augment, 0);
  EXPECT_GT(times.collate, 0);
}

}  // namespace
}  // namespace bench::loader
