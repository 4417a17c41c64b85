// Local response normalisation over neighbouring channels, and its gradient (Krizhevsky et al. 2012). With
//   s[c] = k + alpha / size · Σ src[c']² over the channels c' up to (size − 1) / 2 away
//   dst[c]      = src[c] · s[c]^−beta
//   diff_src[c] = diff_dst[c] · s[c]^−beta − 2 · alpha · beta / size · src[c] · Σ diff_dst[c'] · src[c'] ·
//   s[c']^(−beta−1)
//
// Slots. forward: src → dst; and `saved` in training.   backward: src, saved, diff_dst → diff_src.
// `saved` is the implementation's own and may be missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// The layer's options in a network.
struct LrnOptions {
  std::int64_t size = 5;  // channels, an odd number
  float alpha = 1e-4F, beta = 0.75F, k = 1;
};

struct Lrn {
  static constexpr std::string_view kName = "lrn";
  TensorDesc tensor;
  std::int64_t size = 5;
  float alpha = 1e-4F, beta = 0.75F, k = 1;
  bool training = false;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  // A product and a sum for each neighbour, the power counted as one; twice that backward.
  double flops() const {
    return (2.0 * static_cast<double>(size) + 4) * static_cast<double>(tensor.elements()) *
           (forward() ? 1 : 2);
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    return size < 1 || size % 2 == 0
               ? std::optional<std::string>("lrn: the size must be an odd number of channels")
               : std::nullopt;
  }

  bool operator==(const Lrn&) const = default;
};

PlainSlots plain_slots(const Lrn& spec);

}  // namespace bench::kernels
