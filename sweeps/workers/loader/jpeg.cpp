#include "sweeps/workers/loader/jpeg.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

#include <jerror.h>

#include <fmt/format.h>

namespace bench::loader {
namespace {

// A cropped row differs from the full image's at its ends, where neighbouring colour samples are missing:
// decode that much more. Rows after a skip do not differ.
constexpr int kBorder = 2;  // pixels

// The image itself is intact: real collections hold such files, and other programs read them.
bool harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_ADOBE_XFORM || warning == JWRN_JFIF_MAJOR;
}

std::string what_else(std::span<const std::byte> encoded) {
  const std::string_view start(reinterpret_cast<const char*>(encoded.data()),
                               std::min<std::size_t>(encoded.size(), 12));
  if (start.starts_with("\x89PNG")) {
    return " but a PNG image";
  }
  if (start.starts_with("GIF8")) {
    return " but a GIF image";
  }
  if (start.starts_with("RIFF") && start.ends_with("WEBP")) {
    return " but a WebP image";
  }
  return start.find_first_not_of('\0') == std::string_view::npos ? " but zeros" : "";
}

// Bytes after the marker, as cameras append, do no harm.
bool has_end_marker(std::span<const std::byte> scans) {
  for (std::size_t i = scans.size(); i >= 2; --i) {
    if (scans[i - 1] == std::byte{JPEG_EOI} && scans[i - 2] == std::byte{0xFF}) {
      return true;
    }
  }
  return false;
}

// As Pillow: inks are stored inverted, as Adobe's programs write them. In place, four bytes a pixel.
void rgb_of_inks(std::uint8_t* pixel, int count) {
  for (int i = 0; i < count; ++i, pixel += 4) {
    const int key = pixel[3];
    for (int c = 0; c < 3; ++c) {
      const int ink = (255 - pixel[c]) * key + 128;
      pixel[c] = static_cast<std::uint8_t>(key - (((ink >> 8) + ink) >> 8));
    }
  }
}

}  // namespace

class JpegDecoder::Impl {
 public:
  explicit Impl(CancelToken cancel) : cancel_(std::move(cancel)) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = fail;
    errors_.emit_message = warn;
    errors_.output_message = [](j_common_ptr /*info*/) {};
    info_.client_data = this;
    guarded([this] { jpeg_create_decompress(&info_); });
    info_.mem->max_memory_to_use = kMostDecoderBytes;
    progress_.progress_monitor = look_around;
    info_.progress = &progress_;
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = next_portion;
    source_.skip_input_data = skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
    info_.src = &source_;
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { jpeg_destroy_decompress(&info_); }

  ImageSize open(std::span<const std::byte> encoded, std::int64_t most_pixels) {
    if (encoded.empty()) {
      throw BadImage("the file is empty");
    }
    if (encoded.size() < 3 || encoded[0] != std::byte{0xFF} || encoded[1] != std::byte{0xD8}) {
      throw BadImage("not a JPEG file" + what_else(encoded));
    }
    const auto* const data = reinterpret_cast<const unsigned char*>(encoded.data());
    guarded([this, &encoded] {
      jpeg_abort_decompress(&info_);
      rest_ = encoded;
      take_portion();
      jpeg_read_header(&info_, TRUE);
    });
    const ImageSize size{.width = static_cast<int>(info_.image_width),
                         .height = static_cast<int>(info_.image_height)};
    if (std::int64_t{size.width} * size.height > most_pixels) {
      throw BadImage(
          fmt::format("{} x {} pixels, more than the limit of {}", size.width, size.height, most_pixels));
    }
    // A crop may not need the missing end: without this, the same file would be bad in one epoch only.
    if (!has_end_marker(encoded.subspan(static_cast<std::size_t>(info_.src->next_input_byte - data)))) {
      throw BadImage("truncated: its end is missing");
    }
    return size;
  }

  Decoded decode(const Box& box, int eighths) {
    const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = inks ? JCS_CMYK : JCS_EXT_RGBX;
    info_.scale_num = static_cast<unsigned>(eighths);
    info_.scale_denom = 8;
    guarded([this] { jpeg_start_decompress(&info_); });

    const int width = static_cast<int>(info_.output_width);
    const int height = static_cast<int>(info_.output_height);
    const bool partial = common_sampling();
    const int left = partial ? std::max(0, box.x * eighths / 8 - kBorder) : 0;
    const int right = partial ? std::min(width, ((box.x + box.width) * eighths + 7) / 8 + kBorder) : width;
    const int top = partial ? box.y * eighths / 8 : 0;
    const int bottom = std::min(height, ((box.y + box.height) * eighths + 7) / 8);
    auto first = static_cast<JDIMENSION>(left);
    auto columns = static_cast<JDIMENSION>(right - left);
    if (left > 0 || right < width) {
      guarded([this, &first, &columns] { jpeg_crop_scanline(&info_, &first, &columns); });
    }
    const std::size_t stride = std::size_t{4} * columns;
    const std::size_t needed = static_cast<std::size_t>(bottom - top + 1) * stride + kSlack;
    if (pixels_.size() < needed) {
      pixels_.resize(needed);
    }
    guarded([this, top, bottom, stride] { read_rows(top, bottom, stride); });
    jpeg_abort_decompress(&info_);
    if (inks) {
      rgb_of_inks(pixels_.data(), static_cast<int>(columns) * (bottom - top));
    }
    return {.pixels = {.data = pixels_.data(),
                       .stride = stride,
                       .width = static_cast<int>(columns),
                       .height = bottom - top},
            .left = static_cast<int>(first),
            .top = top};
  }

  std::int64_t scratch_bytes() const { return static_cast<std::int64_t>(pixels_.capacity()); }

 private:
  // libjpeg leaves by longjmp, over its own frames and those of `calls`, which therefore own nothing.
  template <class Calls>
  __attribute__((noinline)) void guarded(const Calls& calls) {
    if (setjmp(out_) == 0) {  // NOLINT(modernize-avoid-setjmp-longjmp): C frames cannot be thrown through
      calls();
      return;
    }
    jpeg_abort_decompress(&info_);
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  // libjpeg-turbo's crops are exact where brightness has one or two samples per colour sample each way. Other
  // images (4:1:0, inks) are rare, and decoded in full.
  bool common_sampling() const {
    const std::span components(info_.comp_info, static_cast<std::size_t>(info_.num_components));
    const auto at_most = [](const jpeg_component_info& component, int most) {
      return component.h_samp_factor <= most && component.v_samp_factor <= most;
    };
    return components.size() <= 3 && at_most(components.front(), 2) &&
           std::all_of(components.begin() + 1, components.end(),
                       [&](const jpeg_component_info& component) { return at_most(component, 1); });
  }

  void read_rows(int top, int bottom, std::size_t stride) {
    if (top > 0) {
      jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(top));
    }
    std::array<JSAMPROW, 16> rows{};
    for (int y = top; y < bottom;) {
      const int count = std::min<int>(rows.size(), bottom - y);
      for (int i = 0; i < count; ++i) {
        rows[i] = pixels_.data() + static_cast<std::size_t>(y - top + i) * stride;
      }
      y += static_cast<int>(jpeg_read_scanlines(&info_, rows.data(), static_cast<JDIMENSION>(count)));
    }
  }

  // False where nothing is left.
  bool take_portion() {
    const auto portion = rest_.first(std::min(kJpegPortion, rest_.size()));
    rest_ = rest_.subspan(portion.size());
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(portion.data());
    source_.bytes_in_buffer = portion.size();
    return !portion.empty();
  }

  // Callbacks of libjpeg. It hands back `this` in client_data, and may be left by longjmp from each.

  static Impl& of(j_common_ptr info) { return *static_cast<Impl*>(info->client_data); }

  // Throws `failure` out of guarded(); no frame from there to here owns anything.
  [[noreturn]] void leave() { std::longjmp(out_, 1); }  // NOLINT(modernize-avoid-setjmp-longjmp)

  [[noreturn]] static void fail(j_common_ptr info) {
    Impl& self = of(info);
    const int code = info->err->msg_code;
    if (code == JERR_NO_BACKING_STORE || code == JERR_OUT_OF_MEMORY) {
      self.failure_ = std::make_exception_ptr(
          BadImage(fmt::format("needs more than {} MiB to decode", kMostDecoderBytes >> 20)));
    } else {
      std::array<char, JMSG_LENGTH_MAX> message{};
      (*info->err->format_message)(info, message.data());
      self.failure_ = std::make_exception_ptr(BadImage(message.data()));
    }
    self.leave();
  }
  static void warn(j_common_ptr info, int level) {
    if (level < 0 && !harmless(info->err->msg_code)) {
      fail(info);
    }
  }
  void leave_if_cancelled() {
    if (cancel_()) {
      failure_ = std::make_exception_ptr(Cancelled());
      leave();
    }
  }
  static boolean next_portion(j_decompress_ptr info) {
    const auto common = reinterpret_cast<j_common_ptr>(info);
    Impl& self = of(common);
    self.leave_if_cancelled();
    if (!self.take_portion()) {
      self.errors_.msg_code = JWRN_JPEG_EOF;
      fail(common);
    }
    return TRUE;
  }
  static void skip(j_decompress_ptr info, long count) {
    jpeg_source_mgr& source = *info->src;
    auto left = static_cast<std::size_t>(std::max(0L, count));
    while (left > source.bytes_in_buffer) {
      left -= source.bytes_in_buffer;
      next_portion(info);
    }
    source.next_input_byte += left;
    source.bytes_in_buffer -= left;
  }
  // Called with each group of rows. A few bytes a scan make a decoder go over the whole image again.
  static void look_around(j_common_ptr info) {
    Impl& self = of(info);
    self.leave_if_cancelled();
    if (self.info_.input_scan_number > kMostScans) {
      self.failure_ = std::make_exception_ptr(BadImage(fmt::format("more than {} scans", kMostScans)));
      self.leave();
    }
  }

  CancelToken cancel_;
  jpeg_source_mgr source_{};
  std::span<const std::byte> rest_;  // of the encoded image, after the portion that libjpeg has
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf out_{};
  std::exception_ptr failure_;
  std::vector<std::uint8_t> pixels_;
};

JpegDecoder::JpegDecoder(CancelToken cancel) : impl_(std::make_unique<Impl>(std::move(cancel))) {}
JpegDecoder::~JpegDecoder() = default;
ImageSize JpegDecoder::open(std::span<const std::byte> encoded, std::int64_t most_pixels) {
  return impl_->open(encoded, most_pixels);
}
JpegDecoder::Decoded JpegDecoder::decode(const Box& box, int eighths) {
  return impl_->decode(box, eighths);
}
std::int64_t JpegDecoder::scratch_bytes() const {
  return impl_->scratch_bytes();
}

}  // namespace bench::loader
