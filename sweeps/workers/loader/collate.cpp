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

Collator::Collator(const Transform& transform)
    : pixels_(static_cast<std::size_t>(transform.image_size * transform.image_size)),
      element_(transform.element),
      layout_(transform.layout) {
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      const float value = (static_cast<float>(v) / 255 - transform.mean[c]) / transform.deviation[c];
      single_[c][v] = value;
      half_[c][v] = element_ == Element::bf16 ? bfloat_bits(value) : half_bits(value);
    }
  }
}

template <class Value>
void Collator::store_looked_up(const Table<Value>& table, const std::uint8_t* pixels,
                               std::byte* sample) const {
  auto* out = reinterpret_cast<Value*>(sample);
  if (layout_ == Layout::nhwc) {
    for (std::size_t i = 0; i < pixels_; ++i, pixels += 4, out += 3) {
      out[0] = table[0][pixels[0]];
      out[1] = table[1][pixels[1]];
      out[2] = table[2][pixels[2]];
    }
    return;
  }
  for (std::size_t i = 0; i < pixels_; ++i, pixels += 4) {
    out[i] = table[0][pixels[0]];
    out[pixels_ + i] = table[1][pixels[1]];
    out[2 * pixels_ + i] = table[2][pixels[2]];
  }
}

void Collator::store_bytes(const std::uint8_t* pixels, std::byte* sample) const {
  const std::size_t pixel = layout_ == Layout::nhwc ? 3 : 1;
  const std::size_t channel = layout_ == Layout::nhwc ? 1 : pixels_;
  for (std::size_t i = 0; i < pixels_; ++i, pixels += 4, sample += pixel) {
    sample[0] = std::byte{pixels[0]};
    sample[channel] = std::byte{pixels[1]};
    sample[2 * channel] = std::byte{pixels[2]};
  }
}

void Collator::store(const std::uint8_t* pixels, std::byte* sample) const {
  switch (element_) {
    case Element::fp32:
      return store_looked_up(single_, pixels, sample);
    case Element::fp16:
    case Element::bf16:
      return store_looked_up(half_, pixels, sample);
    case Element::uint8:
      return store_bytes(pixels, sample);
  }
}

}  // namespace bench::loader
