#include "jpegs.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include <jpeglib.h>

#include "bench/stats/random.h"

namespace bench::loader {

std::vector<std::uint8_t> test_pixels(int width, int height, int components, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < components; ++c) {
        const double wave = 50 * std::sin((x * (1 + c) + y) / 9.0) + 40 * std::cos((y * 2 - x * c) / 23.0);
        const double noise = 20 * (unit_draw(engine) - 0.5);
        pixels.push_back(
            static_cast<std::uint8_t>(std::lround(std::fmin(255, std::fmax(0, 120 + wave + noise)))));
      }
    }
  }
  return pixels;
}

std::vector<std::byte> make_jpeg(const JpegKind& kind, std::uint64_t seed) {
  return encode(kind, test_pixels(kind.width, kind.height, kind.components, seed));
}

namespace {

// The constant term, then each coefficient's upper bits, then its lowest bit.
std::vector<jpeg_scan_info> scans_of_every_coefficient() {
  std::vector<jpeg_scan_info> scans{
      {.comps_in_scan = 1, .component_index = {0}, .Ss = 0, .Se = 0, .Ah = 0, .Al = 0}};
  for (const int refined : {0, 1}) {
    for (int coefficient = 1; coefficient < 64; ++coefficient) {
      scans.push_back({.comps_in_scan = 1,
                       .component_index = {0},
                       .Ss = coefficient,
                       .Se = coefficient,
                       .Ah = refined,
                       .Al = 1 - refined});
    }
  }
  return scans;
}

}  // namespace

std::vector<std::byte> encode(const JpegKind& kind, std::span<const std::uint8_t> pixels) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(kind.width);
  info.image_height = static_cast<JDIMENSION>(kind.height);
  info.input_components = kind.components;
  info.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, kind.quality, TRUE);
  if (kind.ycck) {
    jpeg_set_colorspace(&info, JCS_YCCK);
  }
  if (kind.components != 1) {
    info.comp_info[0].h_samp_factor = kind.across;
    info.comp_info[0].v_samp_factor = kind.down;
  }
  info.restart_in_rows = kind.restart_rows;
  if (kind.progressive) {
    jpeg_simple_progression(&info);
  }
  const std::vector<jpeg_scan_info> scans = scans_of_every_coefficient();
  if (kind.many_scans) {
    info.scan_info = scans.data();
    info.num_scans = static_cast<int>(scans.size());
  }
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    const std::size_t row_bytes = static_cast<std::size_t>(kind.components) * info.image_width;
    // libjpeg does not write to the rows it is given.
    auto* row = const_cast<JSAMPROW>(&pixels[row_bytes * info.next_scanline]);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> encoded(bytes, bytes + size);
  std::free(data);
  jpeg_destroy_compress(&info);
  return encoded;
}

std::vector<std::uint8_t> decoded_fully(std::span<const std::byte> encoded, int eighths) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_EXT_RGBA;
  info.scale_num = static_cast<unsigned>(eighths);
  info.scale_denom = 8;
  jpeg_start_decompress(&info);
  const std::size_t stride = std::size_t{4} * info.output_width;
  std::vector<std::uint8_t> pixels(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = &pixels[stride * info.output_scanline];
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return pixels;
}

std::size_t marker(std::span<const std::byte> encoded, int code) {
  for (std::size_t i = 1; i < encoded.size(); ++i) {
    if (encoded[i - 1] == std::byte{0xFF} && encoded[i] == static_cast<std::byte>(code)) {
      return i;
    }
  }
  throw std::logic_error("no such marker");
}

}  // namespace bench::loader
