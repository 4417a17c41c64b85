// Writes JPEG files of one size:  diagnosis_images FOLDER COUNT AREA
// AREA: times the pixels of the synthetic images that `bench --sweep workers` makes.
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sweeps/workers/loader/synthetic.h"

namespace {

double number(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() ? value : 0;
}

}  // namespace

int main(int count, char** words) {
  const double images = count == 4 ? number(words[2]) : 0;
  const double area = count == 4 ? number(words[3]) : 0;
  if (images < 1 || area <= 0) {
    fmt::print(stderr, "usage: diagnosis_images FOLDER COUNT AREA\n");
    return 2;
  }
  const std::filesystem::path folder = words[1];
  std::filesystem::create_directories(folder);
  constexpr int kQuality = 95;
  for (std::uint64_t i = 0; static_cast<double>(i) < images; ++i) {
    const std::vector<std::byte> encoded =
        bench::loader::encoded_jpeg(bench::loader::synthetic_image(i, area), kQuality);
    std::ofstream file(folder / fmt::format("{:04}.jpg", i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(encoded.data()), static_cast<std::streamsize>(encoded.size()));
    if (!file.flush()) {
      fmt::print(stderr, "diagnosis_images: {} cannot be written\n", folder.string());
      return 1;
    }
  }
  return 0;
}
