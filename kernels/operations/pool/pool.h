// Pooling over windows and its gradient: the maximum, or the average over the window's real inputs, or with
// `count_padding` their sum divided by as many inputs as the window has with the padding. Global pooling is
// the average over a window as large as the tensor. Adaptive pooling is given the size of its result instead
// of a window: along an axis output o of `out` averages inputs ⌊o·in/out⌋ to ⌈(o+1)·in/out⌉, the last not
// included.
//
// backward: a maximum's gradient goes to the input that was the maximum, as noted in `saved` by the training
// forward pass of the same implementation; an average's is shared equally by the window's real inputs.
// Gradients of overlapping windows add up.
//
// Slots. forward:  src → dst; and `saved` (an output: which input was the maximum, the first in reading order
//                  where several are) where it is a maximum in training.
//        backward: diff_dst, saved (maximum only) → diff_src.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"
#include "kernels/operations/window.h"

namespace bench::kernels {

struct Pool {
  static constexpr std::string_view kName = "pool";
  enum class Kind { max, average, adaptive };
  TensorDesc src;
  Kind kind = Kind::max;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;           // on both sides; below the window's span with the two below
  std::int64_t pad_bottom = 0, pad_right = 0;  // there, in addition to pad_h and pad_w; may be negative
  std::int64_t dilation_h = 1, dilation_w = 1;
  // Rows and columns after the padding that the last windows reach: those of a result that is rounded up.
  // They are never counted.
  std::int64_t beyond_h = 0, beyond_w = 0;
  bool count_padding = false;          // average only
  std::int64_t height = 0, width = 0;  // of dst; adaptive pooling's, in place of all above
  bool training = false;
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  std::int64_t out_height() const {
    const std::int64_t room = src.h + 2 * pad_h + pad_bottom + beyond_h - dilation_h * (kernel_h - 1) - 1;
    return kind == Kind::adaptive ? height : room / stride_h + 1;
  }
  std::int64_t out_width() const {
    const std::int64_t room = src.w + 2 * pad_w + pad_right + beyond_w - dilation_w * (kernel_w - 1) - 1;
    return kind == Kind::adaptive ? width : room / stride_w + 1;
  }
  WindowAxis rows() const { return {src.h, out_height(), kernel_h, stride_h, pad_h, dilation_h}; }
  WindowAxis columns() const { return {src.w, out_width(), kernel_w, stride_w, pad_w, dilation_w}; }
  TensorDesc dst() const { return {src.n, src.c, out_height(), out_width(), src.layout, src.dtype}; }
  // Whether a pass writes or reads `saved`.
  bool saves() const { return kind == Kind::max && (training || !forward()); }

  // One comparison or addition for every real input of every window.
  double flops() const;
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Pool&) const = default;
};

PlainSlots plain_slots(const Pool& spec);

}  // namespace bench::kernels
