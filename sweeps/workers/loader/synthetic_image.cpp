#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <random>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

#include "bench/stats/random.h"
#include "sweeps/workers/loader/synthetic.h"

namespace bench::loader {
namespace {

// Width and height; photographs' shapes, most of them the commonest of ImageNet.
constexpr std::array<std::array<int, 2>, 10> kSizes{{{500, 375},
                                                     {500, 375},
                                                     {500, 375},
                                                     {375, 500},
                                                     {500, 375},
                                                     {500, 333},
                                                     {500, 375},
                                                     {333, 500},
                                                     {640, 480},
                                                     {400, 300}}};
constexpr int kCoarsest = 256;  // pixels from one value to the next
constexpr double kOfOctave =
    16.2;  // amplitude of each, of 255: energy per octave is even where amplitude is 1/f
constexpr double kOfColour = 0.3;  // of brightness: colours vary less, and slowly
constexpr int kFinestColour = 4;

struct Plane {
  int width;
  int height;
  std::vector<float> values;
};

// Adds noise of one octave: random values `step` pixels apart, and smooth between them.
void add_octave(Plane& plane, int step, double amplitude, std::mt19937_64& engine) {
  const int columns = plane.width / step + 2;
  const int rows = plane.height / step + 2;
  std::vector<float> grid(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
  for (float& value : grid) {
    value =
        static_cast<float>(amplitude * uniform_draw(engine, -1.7, 1.7));  // of variance amplitude², nearly
  }
  const auto smooth = [](float t) { return t * t * (3 - 2 * t); };
  for (int y = 0; y < plane.height; ++y) {
    const float down = smooth(static_cast<float>(y % step) / static_cast<float>(step));
    const float* const above = &grid[static_cast<std::size_t>(y / step) * static_cast<std::size_t>(columns)];
    const float* const below = above + columns;
    float* const row = &plane.values[static_cast<std::size_t>(y) * static_cast<std::size_t>(plane.width)];
    for (int x = 0; x < plane.width; ++x) {
      const float across = smooth(static_cast<float>(x % step) / static_cast<float>(step));
      const int i = x / step;
      const float high = above[i] + across * (above[i + 1] - above[i]);
      const float low = below[i] + across * (below[i + 1] - below[i]);
      row[x] += high + down * (low - high);
    }
  }
}

Plane noise(int width, int height, int finest, double amplitude, std::mt19937_64& engine) {
  Plane plane{
      .width = width,
      .height = height,
      .values = std::vector<float>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
  for (int step = kCoarsest; step >= finest; step /= 2) {
    add_octave(plane, step, amplitude, engine);
  }
  return plane;
}

// A rotated ellipse or rectangle that hides what is behind it, with an edge one pixel wide.
struct Shape {
  double x, y, wide, high, cosine, sine;
  bool round;
  std::array<double, 3> change;  // of brightness and of the two colours

  double cover(double px, double py) const {
    const double u = std::abs((px - x) * cosine + (py - y) * sine) / wide;
    const double v = std::abs((py - y) * cosine - (px - x) * sine) / high;
    const double inside = 1 - (round ? std::sqrt(u * u + v * v) : std::max(u, v));
    return std::clamp(inside * std::min(wide, high), 0.0, 1.0);
  }
};

Shape random_shape(int width, int height, std::mt19937_64& engine) {
  const double angle = uniform_draw(engine, 0, std::numbers::pi);
  return {.x = uniform_draw(engine, 0, width),
          .y = uniform_draw(engine, 0, height),
          .wide = uniform_draw(engine, 0.04, 0.3) * width,
          .high = uniform_draw(engine, 0.04, 0.3) * height,
          .cosine = std::cos(angle),
          .sine = std::sin(angle),
          .round = unit_draw(engine) < 0.5,
          .change = {uniform_draw(engine, -70, 70), uniform_draw(engine, -25, 25),
                     uniform_draw(engine, -25, 25)}};
}

std::uint8_t byte_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
}

}  // namespace

SyntheticImage synthetic_image(std::uint64_t seed, double area) {
  std::mt19937_64 engine(seed);
  const auto& size = kSizes.at(bounded_draw(engine, kSizes.size()));
  const int width = std::max(16, static_cast<int>(std::lround(size[0] * std::sqrt(area))));
  const int height = std::max(16, static_cast<int>(std::lround(size[1] * std::sqrt(area))));
  // Photographs differ in detail, and have sharp and blurred parts.
  const double detail = uniform_draw(engine, 0.9, 1.7);
  std::array<Plane, 3> planes{noise(width, height, 8, kOfOctave, engine),
                              noise(width, height, kFinestColour, kOfColour * kOfOctave, engine),
                              noise(width, height, kFinestColour, kOfColour * kOfOctave, engine)};
  const Plane sharpness = noise(width, height, 64, 0.35, engine);
  const Plane fine = noise(width, height, 1, kOfOctave * detail, engine);
  std::vector<Shape> shapes(8 + bounded_draw(engine, 12));
  std::ranges::generate(shapes, [&] { return random_shape(width, height, engine); });

  SyntheticImage picture{.width = width, .height = height, .rgb = {}};
  picture.rgb.reserve(planes[0].values.size() * 3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::size_t i =
          static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      std::array<double, 3> value{planes[0].values[i], planes[1].values[i], planes[2].values[i]};
      for (const Shape& shape : shapes) {
        const double cover = shape.cover(x, y);
        for (std::size_t c = 0; cover > 0 && c < value.size(); ++c) {
          value[c] += cover * (shape.change[c] - 0.5 * value[c]);
        }
      }
      const double bright =
          120 + value[0] +
          fine.values[i] * std::clamp(0.45 + static_cast<double>(sharpness.values[i]), 0.1, 1.0);
      picture.rgb.push_back(byte_of(bright + 1.402 * value[2]));
      picture.rgb.push_back(byte_of(bright - 0.344 * value[1] - 0.714 * value[2]));
      picture.rgb.push_back(byte_of(bright + 1.772 * value[1]));
    }
  }
  return picture;
}

std::vector<std::byte> encoded_jpeg(const SyntheticImage& picture, int quality) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  // The pixels are ours: what libjpeg can complain of is a mistake in here, or that memory has run out. It
  // ends the program then, as it does by default.
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg does not write to the rows it is given.
    auto* row = const_cast<JSAMPROW>(&picture.rgb[std::size_t{3} * info.image_width * info.next_scanline]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> encoded(bytes, bytes + size);
  std::free(data);
  jpeg_destroy_compress(&info);
  return encoded;
}

}  // namespace bench::loader
