#include "sweeps/workers/loader/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "jpegs.h"

namespace bench::loader {
namespace {

std::vector<std::uint8_t> with_slack(std::vector<std::uint8_t> pixels, int width) {
  pixels.resize(pixels.size() + static_cast<std::size_t>(4 * width) + kSlack, 200);
  return pixels;
}

// The triangle filter written down as it is defined, in double precision and without rounding between
// directions.
std::vector<double> slow_resize(const Pixels& from, const Resizer::Part& part, int size, bool flip) {
  const auto weights = [size](double low, double high, int limit) {
    const double scale = (high - low) / size;
    const double support = std::max(scale, 1.0);
    std::vector<std::vector<double>> of(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
      auto& line = of[static_cast<std::size_t>(i)];
      for (int k = 0; k < limit; ++k) {
        const bool inside = k >= std::floor(low) && k < std::ceil(high);
        line.push_back(inside ? std::max(0.0, 1 - std::abs((k + 0.5 - low - (i + 0.5) * scale) / support))
                              : 0);
      }
      const double sum = std::accumulate(line.begin(), line.end(), 0.0);
      std::ranges::transform(line, line.begin(), [sum](double weight) { return weight / sum; });
    }
    return of;
  };
  const auto across = weights(part.left, part.right, from.width);
  const auto down = weights(part.top, part.bottom, from.height);
  std::vector<double> result;
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      for (int c = 0; c < 3; ++c) {
        double sum = 0;
        for (int v = 0; v < from.height; ++v) {
          for (int u = 0; u < from.width; ++u) {
            sum += down[static_cast<std::size_t>(y)][static_cast<std::size_t>(v)] *
                   across[static_cast<std::size_t>(flip ? size - 1 - x : x)][static_cast<std::size_t>(u)] *
                   from.data[static_cast<std::size_t>(v) * from.stride + static_cast<std::size_t>(4 * u + c)];
          }
        }
        result.push_back(sum);
      }
    }
  }
  return result;
}

struct Case {
  int width, height, size;
  Resizer::Part part;
};

const std::vector<Case> kCases{
    {40, 30, 13, {0, 0, 40, 30}},         // smaller, the whole
    {40, 30, 13, {5, 3, 31, 29}},         // a part
    {40, 30, 50, {5, 3, 31, 29}},         // larger
    {40, 30, 20, {4.5, 3.25, 30.5, 28}},  // between pixels
    {100, 9, 5, {0, 0, 100, 9}},          // by 20 across
    {7, 90, 3, {1, 0, 6, 90}},            // by 30 down
    {40, 30, 1, {0, 0, 40, 30}},          // all of it into one
    {1, 1, 17, {0, 0, 1, 1}},             // one into all
    {3, 2, 8, {2, 1, 3, 2}},              // the last pixel
    {33, 17, 33, {0, 0, 33, 17}},
};

TEST(Resize, AgreesWithTheDefinition) {
  for (const Case& c : kCases) {
    const auto pixels = with_slack(test_pixels(c.width, c.height, 4, 5), c.width);
    const Pixels from{.data = pixels.data(),
                      .stride = static_cast<std::size_t>(4 * c.width),
                      .width = c.width,
                      .height = c.height};
    for (const bool flip : {false, true}) {
      const auto expected = slow_resize(from, c.part, c.size, flip);
      for (const Instructions way : {Instructions::portable, best_instructions()}) {
        std::vector<std::uint8_t> out(static_cast<std::size_t>(4 * c.size * c.size));
        Resizer(way).resize(from, c.part, c.size, flip, out.data());
        double worst = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          worst = std::max(worst, std::abs(out[i / 3 * 4 + i % 3] - expected[i]));
        }
        EXPECT_LE(worst, 1.1) << c.width << "x" << c.height << " to "
                              << c.size;  // rounded twice, and weights
      }
    }
  }
}

TEST(Resize, GivesTheSameBitsInEveryWay) {
  if (best_instructions() == Instructions::portable) {
    GTEST_SKIP() << "this processor has one way only";
  }
  for (const Case& c : kCases) {
    const auto pixels = with_slack(test_pixels(c.width, c.height, 4, 6), c.width);
    const Pixels from{.data = pixels.data(),
                      .stride = static_cast<std::size_t>(4 * c.width),
                      .width = c.width,
                      .height = c.height};
    std::vector<std::uint8_t> portable(static_cast<std::size_t>(4 * c.size * c.size));
    std::vector<std::uint8_t> fast(portable.size());
    Resizer(Instructions::portable).resize(from, c.part, c.size, false, portable.data());
    Resizer(Instructions::avx2).resize(from, c.part, c.size, false, fast.data());
    EXPECT_EQ(portable, fast) << c.width << "x" << c.height << " to " << c.size;
  }
}

TEST(Resize, KeepsAFlatAreaAsItIs) {
  const std::vector<std::uint8_t> pixels(4 * 90 * 72 + kSlack, 201);
  const Pixels from{.data = pixels.data(), .stride = 4 * 90, .width = 90, .height = 71};
  for (const int size : {1, 7, 64, 200}) {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(4 * size * size));
    Resizer().resize(from, {1, 2, 88, 70}, size, false, out.data());
    EXPECT_TRUE(std::ranges::all_of(out, [](std::uint8_t value) { return value == 201; }));
  }
}

TEST(Filter, NeverWeighsWhatLiesOutsideThePart) {
  Filter filter;
  for (const double scale : {0.3, 1.0, 2.7, 40.0}) {
    filter.set(1000, 100, 100 + 10 * scale, 10, false, Filter::kAcross);
    for (std::size_t i = 0; i < 10; ++i) {
      int sum = 0;
      for (int k = 0; k < filter.taps; ++k) {
        const int weight =
            filter.weights[i * static_cast<std::size_t>(filter.taps) + static_cast<std::size_t>(k)];
        sum += weight;
        if (weight != 0) {
          EXPECT_GE(filter.first[i] + k, 100);
          EXPECT_LT(filter.first[i] + k, 100 + std::ceil(10 * scale));
        }
      }
      EXPECT_EQ(sum, Filter::kOne);
    }
  }
}

}  // namespace
}  // namespace bench::loader
