// Gradient of adaptive average pooling: each output's gradient is shared equally by the inputs it averaged.
// Slots: diff_dst → diff_src.
#pragma once

#include <string_view>

#include "kernels/adaptive_pool/adaptive_pool.h"
#include "kernels/operation.h"

namespace bench::kernels {

struct AdaptivePoolBackward {
  static constexpr std::string_view kName = "adaptive_pool_backward";
  AdaptivePool forward;

  bool operator==(const AdaptivePoolBackward&) const = default;
};

}  // namespace bench::kernels
