#include "sweeps/workers/loader/crop.h"

#include <algorithm>
#include <cmath>

#include "bench/stats/random.h"

namespace bench::loader {
namespace {

constexpr int kTries = 10;

int rounded(double value) {
  return static_cast<int>(std::nearbyint(value));  // halves to even, as Python's round does
}

int place(int room, std::mt19937_64& engine) {
  return static_cast<int>(bounded_draw(engine, static_cast<std::uint64_t>(room) + 1));
}

Box middle(int width, int height, const Transform& transform) {
  Box box{.x = 0, .y = 0, .width = width, .height = height};
  const double shape = static_cast<double>(width) / height;
  if (shape < transform.narrowest) {
    box.height = rounded(width / transform.narrowest);
  } else if (shape > transform.widest) {
    box.width = rounded(height * transform.widest);
  }
  box.x = (width - box.width) / 2;
  box.y = (height - box.height) / 2;
  return box;
}

}  // namespace

Box random_crop(int width, int height, const Transform& transform, std::mt19937_64& engine) {
  const double area = static_cast<double>(width) * height;
  const double log_narrowest = std::log(transform.narrowest);
  const double log_widest = std::log(transform.widest);
  for (int i = 0; i < kTries; ++i) {
    const double wanted = area * uniform_draw(engine, transform.smallest_area, transform.largest_area);
    const double shape = std::exp(uniform_draw(engine, log_narrowest, log_widest));
    const int crop_width = rounded(std::sqrt(wanted * shape));
    const int crop_height = rounded(std::sqrt(wanted / shape));
    if (crop_width > 0 && crop_width <= width && crop_height > 0 && crop_height <= height) {
      Box box{.x = 0, .y = 0, .width = crop_width, .height = crop_height};
      box.y = place(height - crop_height, engine);
      box.x = place(width - crop_width, engine);
      return box;
    }
  }
  return middle(width, height, transform);
}

CropAndFlip random_crop_and_flip(int width, int height, const Transform& transform, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  CropAndFlip chosen;
  chosen.crop = random_crop(width, height, transform, engine);
  chosen.flip = unit_draw(engine) < transform.flip;
  return chosen;
}

int decoded_eighths(const Box& crop, int size) {
  constexpr int kReductionLeft = 2;
  int eighths = 8;
  while (eighths > 1 && std::min(crop.width, crop.height) * eighths / 8 >= 2 * kReductionLeft * size) {
    eighths /= 2;
  }
  return eighths;
}

}  // namespace bench::loader
