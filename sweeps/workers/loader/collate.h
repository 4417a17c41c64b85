// A resized image into its place in the batch: normalised, converted, channels first or last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sweeps/workers/loader/collate_rows.h"
#include "sweeps/workers/loader/sample_maker.h"

namespace bench::loader {

std::uint16_t half_bits(float value);    // IEEE binary16, to the nearest, halves to even
std::uint16_t bfloat_bits(float value);  // the upper half of binary32, likewise

// A byte has 256 values: what each becomes in each channel is looked up, or, where there are registers for
// it, computed to the same bits.
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
  Layout layout_;
  bool wide_;
  std::array<float, 3> scale_{};  // of a byte: 1 / (255 * deviation)
  std::array<float, 3> offset_{};
  Table<float> single_{};
  Table<std::uint16_t> half_{};
  Table<std::uint8_t> byte_{};
};

}  // namespace bench::loader
