// The two loops of the resize, in each way to run them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sweeps/workers/loader/resize.h"

namespace bench::loader {

// One row: across.first.size() pixels of four bytes into `to`.
void resize_across(const Filter& across, const std::uint8_t* from, std::uint8_t* to);
// Weighs `taps` rows, the first at `from`, each `stride` bytes after the one before; `bytes` of each.
void resize_down(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                 int bytes, std::uint8_t* to);

bool avx2_usable();
void resize_across_avx2(const Filter& across, const std::uint8_t* from, std::uint8_t* to);
void resize_down_avx2(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                      int bytes, std::uint8_t* to);

}  // namespace bench::loader
