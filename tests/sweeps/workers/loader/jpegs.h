// JPEG files of every kind, made for the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::loader {

struct JpegKind {
  int width = 64;
  int height = 48;
  int components = 3;  // 1 grey, 3 colours, 4 inks
  int quality = 92;
  int across = 2;  // brightness samples per colour sample
  int down = 2;
  bool progressive = false;
  bool many_scans = false;  // 127 of them, of a grey image: two for each coefficient, and valid
  int restart_rows = 0;
  bool ycck = false;  // of 4 components
};

// Waves and noise over a gradient.
std::vector<std::uint8_t> test_pixels(int width, int height, int components, std::uint64_t seed);
std::vector<std::byte> make_jpeg(const JpegKind& kind, std::uint64_t seed = 1);
std::vector<std::byte> encode(const JpegKind& kind, std::span<const std::uint8_t> pixels);

// The whole image as libjpeg gives it by default, red, green, blue and 255.
std::vector<std::uint8_t> decoded_fully(std::span<const std::byte> encoded, int eighths = 8);

// Index of the marker's second byte; the first such marker from the start.
std::size_t marker(std::span<const std::byte> encoded, int code);

}  // namespace bench::loader
