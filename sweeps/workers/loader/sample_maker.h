// From an image's encoded bytes to a sample of a batch: decode, crop, flip, resize, normalise, store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/collate.h"
#include "sweeps/workers/loader/jpeg.h"
#include "sweeps/workers/loader/resize.h"
#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

// Wall time of one sample's stages, in nanoseconds.
struct StageTimes {
  std::int64_t read = 0;
  std::int64_t decode =
      0;  // entropy decoding, inverse DCT, colours: the rows and columns that the crop needs
  std::int64_t augment = 0;  // resize and flip
  std::int64_t collate = 0;  // normalise, convert, store in the batch

  StageTimes& operator+=(const StageTimes& other) {
    read += other.read;
    decode += other.decode;
    augment += other.augment;
    collate += other.collate;
    return *this;
  }
};

// One worker's: holds a decoder and scratch memory, and is used by one thread at a time.
class SampleMaker {
 public:
  explicit SampleMaker(const Transform& transform, CancelToken cancel = never);

  // Into sample_bytes() bytes at `sample`. The seed alone decides crop and flip. `read` of the result is 0.
  // Throws BadImage with what is wrong with the bytes, and Cancelled.
  StageTimes make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample);
  std::int64_t scratch_bytes() const;  // host memory held

 private:
  Transform transform_;
  JpegDecoder decoder_;
  Resizer resizer_;
  Collator collator_;
  std::vector<std::uint8_t> resized_;
};

}  // namespace bench::loader
