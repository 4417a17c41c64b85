// From an image's encoded bytes to a sample of a batch: decode, crop, flip, resize, normalise, store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/give_up.h"

namespace bench::loader {

enum class Element { fp32, fp16, bf16, uint8 };
enum class Layout { nchw, nhwc };

constexpr std::int64_t bytes_of(Element element) {
  return element == Element::fp32 ? 4 : element == Element::uint8 ? 1 : 2;
}

// RandomResizedCrop, horizontal flip and normalisation, as torchvision's.
struct Transform {
  std::int64_t image_size = 224;  // pixels, both sides
  double smallest_area = 0.08;    // of the crop, as a part of the image
  double largest_area = 1;
  double narrowest = 3.0 / 4;  // of the crop, width over height
  double widest = 4.0 / 3;
  double flip = 0.5;  // probability
  // Of values from 0 to 1; not done to uint8.
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> deviation{0.229F, 0.224F, 0.225F};
  Element element = Element::fp32;
  Layout layout = Layout::nhwc;
  std::int64_t most_pixels = 89'478'485;  // of a file's header: more is a BadImage before anything is decoded

  std::int64_t sample_bytes() const { return 3 * image_size * image_size * bytes_of(element); }
};

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
  explicit SampleMaker(const Transform& transform, GiveUp give_up = never);
  SampleMaker(const SampleMaker&) = delete;
  SampleMaker& operator=(const SampleMaker&) = delete;
  ~SampleMaker();

  // Into sample_bytes() bytes at `sample`. The seed alone decides crop and flip. `read` of the result is 0.
  // Throws BadImage with what is wrong with the bytes, and GivenUp.
  StageTimes make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample);
  std::int64_t scratch_bytes() const;  // host memory held

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bench::loader
