// Pooling over windows: the maximum, or the average over the window's real inputs (padding not counted).
// Global pooling is the average over a window as large as the tensor.
// Slots: src → dst; and `saved` (an output: which input was the maximum, the first in reading order where
// several are) where it is a maximum in training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operation.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct Pool {
  static constexpr std::string_view kName = "pool";
  enum class Kind { max, average };
  TensorDesc src;
  Kind kind = Kind::max;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0,
               pad_w = 0;  // the same on both sides; with pad_bottom and pad_right below the kernel's size
  std::int64_t pad_bottom = 0, pad_right = 0;  // there, beyond pad_h and pad_w
  bool training = false;

  std::int64_t out_height() const { return (src.h + 2 * pad_h + pad_bottom - kernel_h) / stride_h + 1; }
  std::int64_t out_width() const { return (src.w + 2 * pad_w + pad_right - kernel_w) / stride_w + 1; }
  TensorDesc dst() const { return {src.n, src.c, out_height(), out_width(), src.layout, src.dtype}; }

  // One comparison or addition for every real input of every window.
  double flops() const;
  // What is wrong with the description; nullopt when it is sound.
  std::optional<std::string> invalid() const;

  bool operator==(const Pool&) const = default;
};

}  // namespace bench::kernels
