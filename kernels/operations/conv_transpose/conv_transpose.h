// Transposed 2-D convolution ("up-convolution"), without padding, and its two gradients: each input pixel
// writes a kernel × kernel patch of the output, patches lie `stride` pixels apart, and where they overlap
// they add up. It is the gradient of a convolution by its input, used forwards.
//
// forward:          dst[n,k,y,x] = bias[k] + Σ_{c,h,w,r,s} src[n,c,h,w] · weights[c,k,r,s]
//                   over h, w, r, s with h · stride + r = y and w · stride + s = x
// backward_data:    diff_src[n,c,h,w]    = Σ_{k,r,s} diff_dst[n,k,h·stride+r,w·stride+s] · weights[c,k,r,s]
// backward_weights: diff_weights[c,k,r,s] = Σ_{n,h,w} diff_dst[n,k,h·stride+r,w·stride+s] · src[n,c,h,w]
//                   diff_bias[k]          = Σ_{n,y,x} diff_dst[n,k,y,x]
//
// Slots.
// forward:          src, weights, bias (if bias) → dst
// backward_data:    diff_dst, weights → diff_src
// backward_weights: src, diff_dst → diff_weights, diff_bias (if bias)
// weights and diff_weights are packed alike in the three directions.
// Plain weights: [in_channels][out_channels][kernel][kernel]; plain bias: [out_channels].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct ConvTranspose {
  static constexpr std::string_view kName = "conv_transpose";
  using Direction = kernels::Direction;

  TensorDesc src;  // also says layout and dtype of dst
  std::int64_t out_channels = 1;
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  Direction direction = Direction::forward;
  bool bias = false;

  TensorDesc dst() const {
    return {src.n,      out_channels, (src.h - 1) * stride + kernel, (src.w - 1) * stride + kernel,
            src.layout, src.dtype};
  }
  std::int64_t weight_count() const { return src.c * out_channels * kernel * kernel; }
  // Every input meets every weight of its channel.
  std::int64_t macs() const { return src.elements() * out_channels * kernel * kernel; }
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
