// Which part of an image becomes the sample: torchvision's RandomResizedCrop.
#pragma once

#include <cstdint>
#include <random>

#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

struct Box {  // pixels
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool operator==(const Box&) const = default;
};

// Ten draws of area and shape; where none fits into the image, its largest part of an accepted shape, in the
// middle.
Box random_crop(int width, int height, const Transform& transform, std::mt19937_64& engine);

// The random choices of one sample.
struct CropAndFlip {
  Box crop;
  bool flip = false;
};
CropAndFlip random_crop_and_flip(int width, int height, const Transform& transform, std::uint64_t seed);

// The resolution at which libjpeg decodes a crop that becomes size x size pixels, in eighths: 8, 4, 2 or 1,
// which have fast paths. The decoded crop is at least twice as large as the sample each way: with less the
// sample differs visibly from one of the full resolution (docs/loader.md).
int decoded_eighths(const Box& crop, int size);

}  // namespace bench::loader
