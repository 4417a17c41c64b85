#include "sweeps/workers/loader/crop.h"

#include <gtest/gtest.h>

namespace bench::loader {
namespace {

TEST(RandomCrop, LiesInTheImageAndHasAcceptedAreaAndShape) {
  const Transform transform;
  std::mt19937_64 engine(7);
  for (int i = 0; i < 20'000; ++i) {
    const Box box = random_crop(500, 375, transform, engine);
    ASSERT_GE(box.x, 0);
    ASSERT_GE(box.y, 0);
    ASSERT_LE(box.x + box.width, 500);
    ASSERT_LE(box.y + box.height, 375);
    const double area = static_cast<double>(box.width) * box.height / (500.0 * 375.0);
    ASSERT_GT(area, 0.079);
    const double shape = static_cast<double>(box.width) / box.height;
    ASSERT_GT(shape, 0.74);
    ASSERT_LT(shape, 1.35);
  }
}

// torchvision 0.14: 40,000 calls of RandomResizedCrop.get_params on 500 x 375 pixels.
TEST(RandomCrop, HasTheStatisticsOfTorchvision) {
  const Transform transform;
  std::mt19937_64 engine(3);
  double area = 0;
  double width = 0;
  double x = 0;
  double y = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const Box box = random_crop(500, 375, transform, engine);
    area += static_cast<double>(box.width) * box.height / (500.0 * 375.0) / kDraws;
    width += static_cast<double>(box.width) / kDraws;
    x += static_cast<double>(box.x) / kDraws;
    y += static_cast<double>(box.y) / kDraws;
  }
  EXPECT_NEAR(area, 0.4342, 0.003);
  EXPECT_NEAR(width, 282.3, 1);
  EXPECT_NEAR(x, 108.7, 1);
  EXPECT_NEAR(y, 52.3, 1);
}

TEST(RandomCrop, TakesTheMiddleWhereNothingFits) {
  const Transform transform;
  std::mt19937_64 engine(1);
  EXPECT_EQ(random_crop(1000, 10, transform, engine), (Box{.x = 493, .y = 0, .width = 13, .height = 10}));
  EXPECT_EQ(random_crop(10, 1000, transform, engine), (Box{.x = 0, .y = 493, .width = 10, .height = 13}));
  EXPECT_EQ(random_crop(1, 1, transform, engine), (Box{.x = 0, .y = 0, .width = 1, .height = 1}));
}

TEST(RandomCrop, TakesTheWholeImageWhereTheAreaIsTooLargeForItsShapes) {
  Transform transform;
  transform.smallest_area = 1;
  transform.largest_area = 1;
  transform.narrowest = 1.2;
  transform.widest = 1.3;
  std::mt19937_64 engine(1);
  EXPECT_EQ(random_crop(125, 100, transform, engine), (Box{.x = 0, .y = 0, .width = 125, .height = 100}));
}

TEST(CropAndFlip, IsDecidedByTheSeedAlone) {
  const Transform transform;
  const CropAndFlip first = random_crop_and_flip(500, 375, transform, 42);
  EXPECT_EQ(random_crop_and_flip(500, 375, transform, 42).crop, first.crop);
  EXPECT_NE(random_crop_and_flip(500, 375, transform, 43).crop, first.crop);
  int flips = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    flips += random_crop_and_flip(500, 375, transform, seed).flip ? 1 : 0;
  }
  EXPECT_NEAR(flips, 5000, 200);
}

}  // namespace
}  // namespace bench::loader
