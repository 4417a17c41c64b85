// From an image's encoded bytes to a sample of a batch: decode, crop, flip, resize, normalise, store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/clock.h"
#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/collate.h"
#include "sweeps/workers/loader/jpeg.h"
#include "sweeps/workers/loader/resize.h"
#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

// Wall time of a worker by stage, in nanoseconds, in the order an image goes through them.
struct StageTimes {
  double read = 0;
  double decode = 0;    // entropy decoding, inverse DCT, colours: the rows and columns that the crop needs
  double augment = 0;   // resize and flip
  double collate = 0;   // normalise, convert, store in the batch
  double hand_off = 0;  // from a batch being done, or asked for if that is later, to the consumer having it

  double total() const { return read + decode + augment + collate + hand_off; }
  StageTimes& operator+=(const StageTimes& other) {
    read += other.read;
    decode += other.decode;
    augment += other.augment;
    collate += other.collate;
    hand_off += other.hand_off;
    return *this;
  }
};

// Owned by one worker: holds a decoder and scratch memory, and is used by one thread at a time.
class SampleMaker {
 public:
  SampleMaker(const Transform& transform, const Clock& clock, CancelToken cancel = never);

  // Into sample_bytes() bytes at `sample`. The seed alone decides crop and flip. The result has the times of
  // decoding, augmenting and collating.
  // Throws BadImage with what is wrong with the bytes, and Cancelled.
  StageTimes make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample);
  std::int64_t scratch_bytes() const;  // host memory held

 private:
  Transform transform_;
  const Clock& clock_;
  JpegDecoder decoder_;
  Resizer resizer_;
  Collator collator_;
  std::vector<std::uint8_t> resized_;
};

}  // namespace bench::loader
