#include "sweeps/workers/loader/collate.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bench::loader {

std::uint16_t half_bits(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::abs(value);
  constexpr float kRoundsToInfinity = 65'520;
  if (size >= kRoundsToInfinity) {
    return static_cast<std::uint16_t>(sign | 0x7C00);
  }
  if (!(size > 0)) {
    return static_cast<std::uint16_t>(sign | (std::isnan(size) ? 0x7E00 : 0));
  }
  constexpr int kSmallest = -14;  // exponent of a normal number
  const int exponent = std::max(std::ilogb(size), kSmallest);
  const auto mantissa = static_cast<std::int64_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  // The mantissa brings its leading one along, and what it is rounded up to carries into the exponent.
  const std::int64_t bits = (static_cast<std::int64_t>(exponent - kSmallest) << 10) + mantissa;
  return static_cast<std::uint16_t>(sign | bits);
}

std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return 0x7FC0;
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

Collator::Collator(const Transform& transform, bool wide)
    : pixels_(static_cast<std::size_t>(transform.image_size * transform.image_size)),
      element_(transform.element),
      layout_(transform.layout),
      wide_(wide && transform.element != Element::uint8) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double deviation = transform.deviation[c];
    scale_[c] = static_cast<float>(1 / (255 * deviation));
    offset_[c] = static_cast<float>(-transform.mean[c] / deviation);
    for (std::size_t v = 0; v < 256; ++v) {
      const float value = std::fma(static_cast<float>(v), scale_[c], offset_[c]);
      single_[c][v] = value;
      half_[c][v] = element_ == Element::bf16 ? bfloat_bits(value) : half_bits(value);
      byte_[c][v] = static_cast<std::uint8_t>(v);
    }
  }
}

template <class Value>
void Collator::look_up(const Table<Value>& table, const std::uint8_t* pixels, std::size_t first,
                       std::byte* sample) const {
  auto* const out = reinterpret_cast<Value*>(sample);
  const std::size_t pixel = layout_ == ImageLayout::nhwc ? 3 : 1;
  const std::size_t channel = layout_ == ImageLayout::nhwc ? 1 : pixels_;
  for (std::size_t i = first; i < pixels_; ++i) {
    out[i * pixel] = table[0][pixels[4 * i]];
    out[i * pixel + channel] = table[1][pixels[4 * i + 1]];
    out[i * pixel + 2 * channel] = table[2][pixels[4 * i + 2]];
  }
}

void Collator::store(const std::uint8_t* pixels, std::byte* sample) const {
  const std::size_t done =
      wide_ ? store_wide(scale_, offset_, element_, layout_, pixels, pixels_, sample) : 0;
  switch (element_) {
    case Element::fp32:
      return look_up(single_, pixels, done, sample);
    case Element::fp16:
    case Element::bf16:
      return look_up(half_, pixels, done, sample);
    case Element::uint8:
      return look_up(byte_, pixels, done, sample);
  }
}

}  // namespace bench::loader
