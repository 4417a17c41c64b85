// A resized image into its place in the batch: normalised, converted, channels first or last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

std::uint16_t half_bits(float value);    // IEEE binary16, to the nearest, halves to even
std::uint16_t bfloat_bits(float value);  // the upper half of binary32, likewise

bool wide_floats_usable();  // the processor has AVX2, FMA and F16C
// value * scale + offset of each channel, rounded once, in 256-bit registers. Returns how many of the pixels
// it did: all but the last few.
std::size_t store_wide(const std::array<float, 3>& scale, const std::array<float, 3>& offset, Element element,
                       ImageLayout layout, const std::uint8_t* pixels, std::size_t count, std::byte* sample);

// Looks up what each of a byte's 256 values becomes in each channel, or computes the same bits in wide
// registers.
class Collator {
 public:
  explicit Collator(const Transform& transform, bool wide = wide_floats_usable());
  // From image_size² pixels of four bytes to sample_bytes().
  void store(const std::uint8_t* pixels, std::byte* sample) const;

 private:
  template <class Value>
  using Table = std::array<std::array<Value, 256>, 3>;

  template <class Value>
  void look_up(const Table<Value>& table, const std::uint8_t* pixels, std::size_t first,
               std::byte* sample) const;

  std::size_t pixels_;
  Element element_;
  ImageLayout layout_;
  bool wide_;
  std::array<float, 3> scale_{};  // of a byte: 1 / (255 * deviation)
  std::array<float, 3> offset_{};
  Table<float> single_{};
  Table<std::uint16_t> half_{};
  Table<std::uint8_t> byte_{};
};

}  // namespace bench::loader
