// Decoded and resized as torchvision does it, by pixels that it made (torchvision/make.py).
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sweeps/workers/loader/file_range.h"
#include "sweeps/workers/loader/sample_maker.h"

namespace bench::loader {
namespace {

const std::filesystem::path kStored =
    std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "tests" / "sweeps" / "workers" / "loader" / "torchvision";

std::vector<int> bytes_of_hex(const std::string& hex) {
  std::vector<int> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// The whole image: a crop of all of its area, in its own proportions.
Transform whole_image(std::int64_t size, bool flip) {
  Transform transform;
  transform.image_size = size;
  transform.smallest_area = transform.largest_area = 1;
  transform.narrowest = transform.widest = 4.0 / 3;
  transform.flip = flip ? 1 : 0;
  transform.element = Element::uint8;
  return transform;
}

TEST(Torchvision, MakesTheSamePixelsWithinTwoOf255) {
  std::vector<std::byte> encoded;
  read_file(kStored / "picture.jpg", encoded);
  const auto stored = nlohmann::json::parse(std::ifstream(kStored / "pixels.json"));
  ASSERT_EQ(stored.at("cases").size(), 5U);
  for (const auto& expected : stored.at("cases")) {
    const auto size = expected.at("size").get<std::int64_t>();
    const auto every = expected.at("every").get<std::int64_t>();
    const Transform transform = whole_image(size, expected.at("flip"));
    std::vector<std::byte> sample(static_cast<std::size_t>(transform.sample_bytes()));
    SampleMaker(transform, steady_clock()).make(encoded, 1, sample.data());
    double sum = 0;
    double sum_unrelated = 0;  // what a picture that is turned over would give
    std::int64_t count = 0;
    std::int64_t y = 0;
    for (const auto& row : expected.at("rows")) {
      const std::vector<int> pixels = bytes_of_hex(row);
      ASSERT_EQ(std::ssize(pixels), 3 * size);
      for (std::int64_t x = 0; x < 3 * size; ++x) {
        const int value = pixels[static_cast<std::size_t>(x)];
        const auto at = [&](std::int64_t line) {
          return std::to_integer<int>(sample[static_cast<std::size_t>(line * 3 * size + x)]);
        };
        sum += std::abs(value - at(y));
        sum_unrelated += std::abs(value - at(size - 1 - y));
        ++count;
      }
      y += every;
    }
    EXPECT_LT(sum / static_cast<double>(count), 2) << "size " << size;
    EXPECT_GT(sum_unrelated / static_cast<double>(count), 20) << "size " << size;
  }
}

}  // namespace
}  // namespace bench::loader
