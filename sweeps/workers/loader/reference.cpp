#include "sweeps/workers/loader/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/jpeg.h"

namespace bench::loader {
namespace {

struct Tap {
  int pixel = 0;
  double weight = 0;
};

// For output pixel `at`: weights of the pixels within `length` ones from `from`; they sum to 1.
std::vector<Tap> taps(std::int64_t at, std::int64_t outputs, int from, int length) {
  const double reduction = static_cast<double>(length) / static_cast<double>(outputs);
  const double half_width = std::max(1.0, reduction);
  const double centre = (static_cast<double>(at) + 0.5) * reduction;
  std::vector<Tap> found;
  double sum = 0;
  for (int pixel = 0; pixel < length; ++pixel) {
    const double weight = 1 - std::abs((pixel + 0.5 - centre) / half_width);
    if (weight > 0) {
      found.push_back({.pixel = from + pixel, .weight = weight});
      sum += weight;
    }
  }
  for (Tap& tap : found) {
    tap.weight /= sum;
  }
  return found;
}

int pixel_of(const Pixels& pixels, int x, int y, int channel) {
  return pixels.data[static_cast<std::size_t>(y) * pixels.stride + static_cast<std::size_t>(4 * x + channel)];
}

double from_half(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> 10U) & 0x1fU;
  const int mantissa = bits & 0x3ffU;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

double element_at(const std::byte* sample, std::int64_t index, Element element) {
  const std::byte* const at = sample + index * bytes_of(element);
  if (element == Element::uint8) {
    return std::to_integer<int>(*at);
  }
  if (element == Element::fp32) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return element == Element::fp16 ? from_half(bits)
                                  : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace

std::vector<double> reference_sample(std::span<const std::byte> encoded, std::uint64_t seed,
                                     const Transform& transform, const CancelToken& cancel) {
  JpegDecoder decoder(cancel);
  const ImageSize image = decoder.open(encoded, transform.most_pixels);
  const CropAndFlip chosen = random_crop_and_flip(image.width, image.height, transform, seed);
  const JpegDecoder::Decoded whole =
      decoder.decode({.x = 0, .y = 0, .width = image.width, .height = image.height}, 8);

  const std::int64_t size = transform.image_size;
  std::vector<double> sample;
  sample.reserve(static_cast<std::size_t>(3 * size * size));
  std::vector<std::vector<Tap>> across;
  for (std::int64_t x = 0; x < size; ++x) {
    across.push_back(taps(chosen.flip ? size - 1 - x : x, size, chosen.crop.x, chosen.crop.width));
  }
  for (std::int64_t y = 0; y < size; ++y) {
    if (cancel()) {
      throw Cancelled();
    }
    const std::vector<Tap> rows = taps(y, size, chosen.crop.y, chosen.crop.height);
    for (const std::vector<Tap>& columns : across) {
      for (int channel = 0; channel < 3; ++channel) {
        double value = 0;
        for (const Tap& row : rows) {
          for (const Tap& column : columns) {
            value += row.weight * column.weight * pixel_of(whole.pixels, column.pixel, row.pixel, channel);
          }
        }
        sample.push_back(value);
      }
    }
  }
  return sample;
}

std::vector<double> unstored(const std::byte* sample, const Transform& transform) {
  const std::int64_t size = transform.image_size;
  std::vector<double> values;
  for (std::int64_t y = 0; y < size; ++y) {
    for (std::int64_t x = 0; x < size; ++x) {
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        const std::int64_t index = transform.layout == ImageLayout::nhwc ? (y * size + x) * 3 + channel
                                                                         : (channel * size + y) * size + x;
        const double value = element_at(sample, index, transform.element);
        const auto c = static_cast<std::size_t>(channel);
        values.push_back(transform.element == Element::uint8
                             ? value
                             : 255 * (value * transform.deviation.at(c) + transform.mean.at(c)));
      }
    }
  }
  return values;
}

}  // namespace bench::loader
