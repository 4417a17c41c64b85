// Enlarges a map by repeating its pixels: dst[n, c, y, x] = src[n, c, ⌊y / factor⌋, ⌊x / factor⌋].
// Slots: src → dst. It computes nothing: flops() is 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Upsample {
  static constexpr std::string_view kName = "upsample";
  TensorDesc src;
  std::int64_t factor = 2;

  TensorDesc dst() const { return {src.n, src.c, factor * src.h, factor * src.w, src.layout, src.dtype}; }
  // What is wrong with the description; nullopt when it is sound.
  std::optional<std::string> invalid() const {
    return src.n < 1 || src.c < 1 || src.h < 1 || src.w < 1 || factor < 1
               ? std::optional<std::string>("upsample: sizes and the factor must be at least 1")
               : std::nullopt;
  }

  bool operator==(const Upsample&) const = default;
};

}  // namespace bench::kernels
