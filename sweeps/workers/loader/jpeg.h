// JPEG to pixels: of an image only what a crop needs, and no larger than it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/resize.h"

namespace bench::loader {

inline constexpr std::int64_t kMostDecoderBytes = 512LL << 20;  // libjpeg's own, of one image
inline constexpr int kMostScans = 100;  // of a progressive image; encoders write about 10
// libjpeg gets an image in portions of so many bytes, so that decoding can be cancelled between two of them:
// from an image given as a whole it skips any number of rows without returning. Larger than most photographs
// made for training, for at the end of each portion it decodes the slow way.
inline constexpr std::size_t kJpegPortion = std::size_t{128} << 10;

struct ImageSize {
  int width = 0;
  int height = 0;
};

// Holds one libjpeg decoder, used again for each image. Throws BadImage for whatever is wrong with the bytes,
// and Cancelled.
class JpegDecoder {
 public:
  explicit JpegDecoder(CancelToken cancel = never);
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder();

  // Reads the header. `encoded` must live until the pixels are decoded.
  ImageSize open(std::span<const std::byte> encoded, std::int64_t most_pixels);

  // The image's pixels in eighths of its size, red, green and blue: at least those that the box (in pixels of
  // the full size) covers. They are valid until the next call.
  struct Decoded {
    Pixels pixels;
    int left = 0;  // of the first pixel, in the reduced image
    int top = 0;
  };
  Decoded decode(const Box& box, int eighths);
  std::int64_t scratch_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bench::loader
