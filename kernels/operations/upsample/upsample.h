// Enlarges a map by repeating its pixels, and the gradient:
//   forward:  dst[n, c, y, x] = src[n, c, ⌊y / factor⌋, ⌊x / factor⌋]
//   backward: a pixel's gradient is the sum over the factor × factor pixels that repeat it
// Slots. forward:  src → dst.
//        backward: diff_dst → diff_src.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Upsample {
  static constexpr std::string_view kName = "upsample";
  TensorDesc src;
  std::int64_t factor = 2;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  TensorDesc dst() const { return {src.n, src.c, factor * src.h, factor * src.w, src.layout, src.dtype}; }
  // Backward an addition for every pixel that repeats one.
  double flops() const { return forward() ? 0 : static_cast<double>(dst().elements()); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const {
    return src.n < 1 || src.c < 1 || src.h < 1 || src.w < 1 || factor < 1
               ? std::optional<std::string>("upsample: sizes and the factor must be at least 1")
               : std::nullopt;
  }

  bool operator==(const Upsample&) const = default;
};

PlainSlots plain_slots(const Upsample& spec);

}  // namespace bench::kernels
