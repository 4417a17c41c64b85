// 2-D convolution (cross-correlation), its two gradients, and what may be fused after it.
//
// forward:          dst[n,k,p,q] = act( bias[k] + Σ_{c,r,s} x(c,r,s) · w[k,c,r,s] + src1[n,k,p,q] )
//                   x(c,r,s) = src[n, g·C/G + c, p·stride − pad + r·dilation, q·stride − pad + s·dilation]
// backward_data:    diff_src = the gradient with respect to src, from diff_dst and weights
// backward_weights: diff_weights, diff_bias = those with respect to weights and bias, from src and diff_dst
//
// Slots.
// forward:          src, weights, bias (if bias), src1 (if residual) → dst
// backward_data:    diff_dst, weights → diff_src
// backward_weights: src, diff_dst → diff_weights, diff_bias (if bias)
// weights and diff_weights are packed alike in the three directions where `training` is set; otherwise each
// direction packs them as it likes best.
// Plain weights: [out_channels][in_channels / groups][kernel_h][kernel_w]; plain bias: [out_channels].
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/activation.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"
#include "kernels/operations/window.h"

namespace bench::kernels {

struct Conv2d {
  static constexpr std::string_view kName = "conv2d";
  using Direction = kernels::Direction;

  std::int64_t batch = 1;
  std::int64_t in_channels = 1, height = 1, width = 1;
  std::int64_t out_channels = 1;
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t pad_h = 0, pad_w = 0;           // at the top and left
  std::int64_t pad_bottom = 0, pad_right = 0;  // there, in addition to pad_h and pad_w; may be negative
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;
  Direction direction = Direction::forward;
  bool bias = false;
  bool residual = false;                     // forward only: src1 is added before the activation
  Activation activation = Activation::none;  // forward only
  Dtype dtype = Dtype::fp32;
  Layout src_layout = Layout::nhwc;  // of src and diff_src
  Layout dst_layout = Layout::nhwc;  // of dst, diff_dst and src1
  ExtraBytes extra{};                // parameters: forward, not in training
  bool training = false;

  std::int64_t out_height() const {
    return (height + 2 * pad_h + pad_bottom - dilation_h * (kernel_h - 1) - 1) / stride_h + 1;
  }
  std::int64_t out_width() const {
    return (width + 2 * pad_w + pad_right - dilation_w * (kernel_w - 1) - 1) / stride_w + 1;
  }
  WindowAxis rows() const { return {height, out_height(), kernel_h, stride_h, pad_h, dilation_h}; }
  WindowAxis columns() const { return {width, out_width(), kernel_w, stride_w, pad_w, dilation_w}; }
  TensorDesc src() const { return {batch, in_channels, height, width, src_layout, dtype}; }
  TensorDesc dst() const { return {batch, out_channels, out_height(), out_width(), dst_layout, dtype}; }
  std::int64_t weight_count() const { return out_channels * (in_channels / groups) * kernel_h * kernel_w; }

  // Multiply-adds that touch real inputs, not padding (at 3×3 on 7×7 padding would add 18 %).
  std::int64_t macs() const;
  double flops() const { return 2.0 * static_cast<double>(macs()); }
  // Why the description is invalid ("groups 3 does not divide in_channels 64"); nullopt where it is valid.
  std::optional<std::string> invalid() const;

  auto operator<=>(const Conv2d&) const = default;  // also a key of caches
};

PlainSlots plain_slots(const Conv2d& spec);

}  // namespace bench::kernels
