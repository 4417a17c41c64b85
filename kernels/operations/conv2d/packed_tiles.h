// The innermost loops of the packed convolution (packed.cpp): a few output pixels by one or two vectors of
// channels, for processors with AVX2 and FMA.
#pragma once

#include <cstdint>

namespace bench::kernels::packed {

inline constexpr std::int64_t kVector = 8;       // floats
inline constexpr std::int64_t kMostPixels = 6;   // of a tile: their sums fill the registers
inline constexpr std::int64_t kMostVectors = 2;  // of a tile

// Tiles one after the other, each of some of the pixels.
struct Tiles {
  std::int64_t count = 1;
  // Of each pixel of the tiles, what it reads: those of the next tap are `tap_step` entries on.
  const float* const* inputs = nullptr;
  const float* padding = nullptr;  // what pixels read outside the map: zeros
  std::int64_t tap_step = 0, taps = 1;
  std::int64_t first_channel = 0, channels = 1;  // of each tap
  const float* weights = nullptr;                // [taps][channels][vectors]
  const float* bias = nullptr;                   // or nullptr
  const float* summand = nullptr;                // added to the sums, stored as dst; or nullptr
  float* dst = nullptr;
  const std::int64_t* places = nullptr;  // of each pixel, in dst
  std::int64_t last = kVector;           // channels of the last vector
  float least = 0, most = 0;             // bounds of what is stored
};

// Computes tiles of `pixels` pixels, 1 to kMostPixels, by `vectors` vectors.
void compute_tiles(std::int64_t pixels, std::int64_t vectors, const Tiles& tiles);

}  // namespace bench::kernels::packed
