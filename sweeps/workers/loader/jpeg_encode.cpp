#include <cstdio>
#include <cstdlib>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

#include "sweeps/workers/loader/synthetic.h"

namespace bench::loader {

std::vector<std::byte> encoded_as_jpeg(const Picture& picture, int quality) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  // The picture is ours: what libjpeg can complain of is a mistake in here, or that memory has run out. It
  // ends the program then, as it does by default.
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
    auto* row = const_cast<JSAMPROW>(&picture.rgb[std::size_t{3} * info.next_scanline * info.image_width]);
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
