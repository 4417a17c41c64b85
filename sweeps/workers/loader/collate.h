// A resized image into its place in the batch: normalised, converted, channels first or last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

bool wide_floats_usable();  // the processor has AVX2, FMA and F16C

// Looks up what each of a byte's 256 values becomes in each channel, or computes the same bits in wide
// registers.
class Collator {
 public:
  explicit Collator(const Transform& transform, bool wide = wide_floats_usable());
  // From image_size² pixels of four bytes to sample_bytes().
  void store(const std::uint8_t* pixels, std::byte* sample) const;

 private:
  template <class Value>
  void look_up(const std::uint8_t* pixels, std::size_t first, std::byte* sample) const;

  std::size_t pixels_;
  Element element_;
  ImageLayout layout_;
  bool wide_;
  std::array<float, 3> scale_{};  // of a byte: 1 / (255 * deviation)
  std::array<float, 3> offset_{};
  std::array<std::array<std::uint32_t, 256>, 3> bits_{};  // of a channel's bytes, as they are stored
};

}  // namespace bench::loader
