#include "sweeps/workers/loader/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/stored.h"
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

// The value of an output pixel's channel, from 0 to 255.
double stored_value(const std::byte* sample, std::int64_t x, std::int64_t y, int channel,
                    const Transform& transform) {
  const std::int64_t size = transform.image_size;
  const std::int64_t index =
      transform.layout == ImageLayout::nhwc ? (y * size + x) * 3 + channel : (channel * size + y) * size + x;
  const std::byte* const at = sample + index * bytes_of(transform.element);
  std::uint32_t bits = 0;  // of the element, in the lower bytes
  std::memcpy(&bits, at, static_cast<std::size_t>(bytes_of(transform.element)));
  const auto c = static_cast<std::size_t>(channel);
  const auto unnormalised = [&](double value) {
    return 255 * (value * transform.deviation.at(c) + transform.mean.at(c));
  };
  switch (transform.element) {
    case Element::fp32:
      return unnormalised(std::bit_cast<float>(bits));
    case Element::fp16:
      return unnormalised(Fp16::to(static_cast<std::uint16_t>(bits)));
    case Element::bf16:
      return unnormalised(Bf16::to(static_cast<std::uint16_t>(bits)));
    case Element::uint8:
      break;
  }
  return bits;
}

}  // namespace

double difference_from_reference(const std::byte* sample, std::span<const std::byte> encoded,
                                 std::uint64_t seed, const Transform& transform, const CancelToken& cancel) {
  JpegDecoder decoder(cancel);
  const ImageSize image = decoder.open(encoded, transform.most_pixels);
  const CropAndFlip chosen = random_crop_and_flip(image.width, image.height, transform, seed);
  const JpegDecoder::Decoded whole =
      decoder.decode({.x = 0, .y = 0, .width = image.width, .height = image.height}, 8);

  const std::int64_t size = transform.image_size;
  std::vector<std::vector<Tap>> across;
  for (std::int64_t x = 0; x < size; ++x) {
    across.push_back(taps(chosen.flip ? size - 1 - x : x, size, chosen.crop.x, chosen.crop.width));
  }
  double sum = 0;
  for (std::int64_t y = 0; y < size; ++y) {
    if (cancel()) {
      throw Cancelled();
    }
    const std::vector<Tap> down = taps(y, size, chosen.crop.y, chosen.crop.height);
    for (std::int64_t x = 0; x < size; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        double value = 0;
        for (const Tap& row : down) {
          for (const Tap& column : across[static_cast<std::size_t>(x)]) {
            value += row.weight * column.weight * pixel_of(whole.pixels, column.pixel, row.pixel, channel);
          }
        }
        sum += std::abs(value - stored_value(sample, x, y, channel, transform));
      }
    }
  }
  return sum / static_cast<double>(3 * size * size) / 255;
}

}  // namespace bench::loader
