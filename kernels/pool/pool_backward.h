// Gradient of pooling. Maximum: each output's gradient goes to the input that was the maximum, as noted in
// `saved` by the forward pass of the same implementation (Pool::training). Average: it is shared equally by
// the window's real inputs. Gradients of overlapping windows add up.
// Slots: diff_dst, saved (maximum only) → diff_src.
#pragma once

#include <string_view>

#include "kernels/operation.h"
#include "kernels/pool/pool.h"

namespace bench::kernels {

struct PoolBackward {
  static constexpr std::string_view kName = "pool_backward";
  Pool forward;

  double flops() const { return forward.flops(); }

  bool operator==(const PoolBackward&) const = default;
};

}  // namespace bench::kernels
