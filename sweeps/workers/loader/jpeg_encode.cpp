#include "sweeps/workers/loader/jpeg_encode.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

namespace bench::loader {

std::vector<std::byte> encoded_as_jpeg(const RawPixels& pixels, int quality,
                                       const std::function<void(jpeg_compress_struct&)>& choose) {
  const std::size_t row_bytes =
      static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.components);
  if (pixels.bytes.size() != row_bytes * static_cast<std::size_t>(pixels.height)) {
    throw std::logic_error("as many bytes as pixels and their components are needed");
  }
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  // The pixels are ours: what libjpeg can complain of is a mistake in here, or that memory has run out. It
  // ends the program then, as it does by default.
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(pixels.width);
  info.image_height = static_cast<JDIMENSION>(pixels.height);
  info.input_components = pixels.components;
  info.in_color_space = pixels.components == 1 ? JCS_GRAYSCALE : pixels.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  if (choose) {
    choose(info);
  }
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg does not write to the rows it is given.
    auto* row = const_cast<JSAMPROW>(&pixels.bytes[info.next_scanline * row_bytes]);
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
