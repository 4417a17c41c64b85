// Gradient of upsample: each pixel's is the sum over the factor × factor pixels that repeat it.
// Slots: diff_dst → diff_src.
#pragma once

#include <string_view>

#include "kernels/upsample/upsample.h"

namespace bench::kernels {

struct UpsampleBackward {
  static constexpr std::string_view kName = "upsample_backward";
  Upsample forward;

  // One addition for every pixel that repeats one.
  double flops() const { return static_cast<double>(forward.dst().elements()); }

  bool operator==(const UpsampleBackward&) const = default;
};

}  // namespace bench::kernels
