// How much of a JPEG's resolution a crop needs.
#pragma once

#include <algorithm>

#include "sweeps/workers/loader/crop.h"

namespace bench::loader {

// libjpeg can leave an image's highest frequencies out and give it in eighths of its size. What is left must
// still be reduced by at least this, or the output would differ visibly from that of the full size: see
// docs/loader.md.
inline constexpr int kReductionLeft = 2;

inline int decoded_eighths(const Box& crop, int size) {
  int eighths = 8;  // of those between, only 4, 2 and 1 have fast paths
  while (eighths > 1 && std::min(crop.width, crop.height) * eighths / 8 >= 2 * kReductionLeft * size) {
    eighths /= 2;
  }
  return eighths;
}

}  // namespace bench::loader
