// How an image becomes a sample: the crop's range, size, normalisation, element and layout.
#pragma once

#include <array>
#include <cstdint>

namespace bench::loader {

enum class Element { fp32, fp16, bf16, uint8 };
enum class ImageLayout { nchw, nhwc };

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
  // For values from 0 to 1; not done to uint8.
  std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
  std::array<float, 3> deviation{0.229F, 0.224F, 0.225F};
  Element element = Element::fp32;
  ImageLayout layout = ImageLayout::nhwc;
  std::int64_t most_pixels = 89'478'485;  // of a file's header: more is a BadImage before anything is decoded

  std::int64_t sample_bytes() const { return 3 * image_size * image_size * bytes_of(element); }
};

}  // namespace bench::loader
