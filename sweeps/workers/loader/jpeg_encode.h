// RawPixels as a JPEG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

struct jpeg_compress_struct;

namespace bench::loader {

// Rows of pixels of so many bytes: 1 of grey, 3 of red, green and blue, 4 of inks. `choose` sees libjpeg's
// defaults for them, and may change what it will write.
struct RawPixels {
  int width = 0;
  int height = 0;
  int components = 3;
  std::span<const std::uint8_t> bytes;
};
std::vector<std::byte> encoded_as_jpeg(const RawPixels& pixels, int quality,
                                       const std::function<void(jpeg_compress_struct&)>& choose = {});

}  // namespace bench::loader
