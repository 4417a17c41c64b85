// Damaged JPEG bytes: whatever they are, there is a sample or a BadImage. Meant for the address sanitizer.
// BENCH_FUZZ_ROUNDS runs more of them.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/stats/random.h"
#include "jpegs.h"
#include "sweeps/workers/loader/sample_maker.h"

namespace bench::loader {
namespace {

void damage(std::vector<std::byte>& bytes, std::mt19937_64& engine) {
  const std::uint64_t changes = 1 + bounded_draw(engine, 6);
  for (std::uint64_t i = 0; i < changes && bytes.size() > 8; ++i) {
    // Half of the changes in the headers, where a byte decides most.
    const std::uint64_t limit =
        bounded_draw(engine, 2) == 0 ? std::min<std::size_t>(bytes.size(), 640) : bytes.size();
    const std::size_t at = bounded_draw(engine, limit);
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto rest =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size() - at, 1 + bounded_draw(engine, 40)));
    switch (bounded_draw(engine, 6)) {
      case 0:
        *place = static_cast<std::byte>(bounded_draw(engine, 256));
        break;
      case 1:
        *place ^= static_cast<std::byte>(1U << bounded_draw(engine, 8));
        break;
      case 2:
        bytes.erase(place, place + rest);
        break;
      case 3: {
        const std::vector<std::byte> copied(place, place + rest);
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(bounded_draw(engine, bytes.size())),
                     copied.begin(), copied.end());
        break;
      }
      case 4:
        *place = std::byte{0xFF};
        break;
      default:
        std::fill(place, place + rest, static_cast<std::byte>(bounded_draw(engine, 256)));
    }
  }
}

TEST(Fuzz, DamagedBytesGiveASampleOrABadImage) {
  std::vector<std::vector<std::byte>> good;
  for (const bool progressive : {false, true}) {
    for (const int components : {1, 3, 4}) {
      good.push_back(make_jpeg({.width = 70,
                                .height = 50,
                                .components = components,
                                .quality = 70,
                                .progressive = progressive,
                                .restart_rows = progressive ? 0 : 1}));
    }
  }
  good.push_back(make_jpeg({.width = 120, .height = 20, .quality = 60, .across = 2, .down = 1}));
  good.push_back(make_jpeg({.width = 33, .height = 90, .quality = 60, .across = 1, .down = 1}));

  Transform transform;
  transform.image_size = 24;
  transform.most_pixels = 1 << 20;  // a wrong size in the header must not make the test slow
  transform.element = Element::uint8;
  std::vector<std::byte> sample(static_cast<std::size_t>(transform.sample_bytes()));
  SampleMaker maker(transform, steady_clock());
  std::mt19937_64 engine(2024);
  const char* const rounds = std::getenv("BENCH_FUZZ_ROUNDS");
  const int count = rounds == nullptr ? 4000 : std::stoi(rounds);
  int bad = 0;
  for (int i = 0; i < count; ++i) {
    auto bytes = good[bounded_draw(engine, good.size())];
    damage(bytes, engine);
    try {
      maker.make(bytes, engine(), sample.data());
    } catch (const BadImage& error) {
      ++bad;
      ASSERT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(bad, count / 5);
  EXPECT_LT(bad, count);
}

}  // namespace
}  // namespace bench::loader
