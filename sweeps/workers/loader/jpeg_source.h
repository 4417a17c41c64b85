// Gives libjpeg an encoded image in portions, so that the caller can cancel between two of them. From an
// image given as a whole libjpeg skips any number of rows without returning.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <span>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

namespace bench::loader {

class JpegSource {
 public:
  // Larger than most photographs made for training, for at the end of each libjpeg decodes the slow way.
  static constexpr std::size_t kPortion = std::size_t{128} << 10;  // bytes

  // `next` is called for each portion after the first: it ends with `go_on`, or leaves by longjmp.
  explicit JpegSource(boolean (*next)(j_decompress_ptr)) {
    manager_.init_source = [](j_decompress_ptr) {};
    manager_.fill_input_buffer = next;
    manager_.skip_input_data = skip;
    manager_.resync_to_restart = jpeg_resync_to_restart;
    manager_.term_source = [](j_decompress_ptr) {};
  }

  void open(jpeg_decompress_struct& info, std::span<const std::byte> encoded) {
    rest_ = encoded;
    go_on();
    info.src = &manager_;
  }
  // False where nothing is left.
  bool go_on() {
    const auto portion = rest_.first(std::min(kPortion, rest_.size()));
    rest_ = rest_.subspan(portion.size());
    manager_.next_input_byte = reinterpret_cast<const JOCTET*>(portion.data());
    manager_.bytes_in_buffer = portion.size();
    return !portion.empty();
  }

 private:
  static void skip(j_decompress_ptr info, long count) {  // NOLINT(google-runtime-int): libjpeg's type
    jpeg_source_mgr& source = *info->src;
    auto left = static_cast<std::size_t>(std::max(0L, count));
    while (left > source.bytes_in_buffer) {
      left -= source.bytes_in_buffer;
      source.fill_input_buffer(info);
    }
    source.next_input_byte += left;
    source.bytes_in_buffer -= left;
  }

  jpeg_source_mgr manager_{};
  std::span<const std::byte> rest_;
};

}  // namespace bench::loader
