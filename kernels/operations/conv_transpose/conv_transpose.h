// Transposed 2-D convolution ("up-convolution") and its two gradients: each input pixel writes a patch of the
// output, as large as the kernel, its pixels `dilation` apart; patches lie `stride` pixels apart, and where
// they overlap they add up. `pad` is what is cut off the result's edges. It is the gradient of a convolution
// by its input, used forwards.
//
// forward:          dst[n,k,y,x] = bias[k] + Σ_{c,h,w,r,s} src[n,c,h,w] · weights[c,k',r,s]
//                   over the channels c of k's group, in which k is number k', and over h, w, r, s with
//                   y = Y(h, r) = h · stride − pad + r · dilation,  x = X(w, s) likewise
// backward_data:    diff_src[n,c,h,w]     = Σ_{k,r,s} diff_dst[n,k,Y(h,r),X(w,s)] · weights[c,k',r,s]
// backward_weights: diff_weights[c,k',r,s] = Σ_{n,h,w} diff_dst[n,k,Y(h,r),X(w,s)] · src[n,c,h,w]
//                   diff_bias[k]           = Σ_{n,y,x} diff_dst[n,k,y,x]
//
// Slots.
// forward:          src, weights, bias (if bias) → dst
// backward_data:    diff_dst, weights → diff_src
// backward_weights: src, diff_dst → diff_weights, diff_bias (if bias)
// weights and diff_weights are packed alike in the three directions.
// Plain weights: [in_channels][out_channels / groups][kernel.h][kernel.w]; plain bias: [out_channels].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"
#include "kernels/operations/window.h"

namespace bench::kernels {

struct ConvTranspose {
  static constexpr std::string_view kName = "conv_transpose";
  using Direction = kernels::Direction;

  TensorDesc src;  // also says layout and dtype of dst
  std::int64_t out_channels = 1;
  PerAxis kernel = 2;
  PerAxis stride = 2;
  Padding pad = 0;
  PerAxis output_pad = 0;  // rows at the bottom and columns at the right that are added to the result
  PerAxis dilation = 1;
  std::int64_t groups = 1;
  Direction direction = Direction::forward;
  bool bias = false;

  TensorDesc dst() const {
    const std::int64_t rows = (src.h - 1) * stride.h + dilation.h * (kernel.h - 1) + 1 + output_pad.h;
    const std::int64_t columns = (src.w - 1) * stride.w + dilation.w * (kernel.w - 1) + 1 + output_pad.w;
    return {src.n,      out_channels, rows - pad.top - pad.bottom, columns - pad.left - pad.right,
            src.layout, src.dtype};
  }
  std::int64_t weight_count() const { return src.c * (out_channels / groups) * kernel.h * kernel.w; }
  // Multiply-adds whose products are part of the result: where nothing is cut off, each input's with every
  // weight of its channel.
  std::int64_t macs() const;
  double flops() const { return 2.0 * static_cast<double>(macs()); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const ConvTranspose&) const = default;
};

PlainSlots plain_slots(const ConvTranspose& spec);

// The convolution of which it is the gradient, with input and output exchanged: conv2d.h's backward_data is
// the forward pass, its forward pass backward_data, and the gradients of the weights are the same. Plain
// weights are that convolution's [out_channels][in_channels][kernel_h][kernel_w].
Conv2d exchanged_convolution(const ConvTranspose& spec);

}  // namespace bench::kernels
