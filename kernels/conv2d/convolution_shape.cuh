// Where the terms of a convolution's sums lie in its input.
#pragma once

#include "kernels/cuda/divider.cuh"

namespace bench::kernels::cuda {

// A forward convolution over NHWC, groups 1.
struct ConvolutionShape {
  int height, width, channels;
  int outputs;  // channels of dst
  int stride_h, stride_w;
  int pad_h, pad_w;
  int dilation_h, dilation_w;
  std::uint32_t pixels;  // of dst, all samples'
  std::uint32_t depth;   // terms of a sum
  Divider out_w, out_h;
  Divider by_channels, by_kernel_w;

  // A window's upper left corner, or a tap's place in it; of pixels that are not there, so far above that no
  // tap is inside.
  struct Corner {
    int y, x;
    int at;  // in src
  };

  BENCH_DEVICE Corner window(std::uint32_t pixel) const {
    constexpr int kFarAbove = -(1 << 30);
    std::uint32_t rest = pixel;
    Corner corner;
    corner.x = static_cast<int>(out_w.take(rest)) * stride_w - pad_w;
    corner.y = static_cast<int>(out_h.take(rest)) * stride_h - pad_h;
    const int row = static_cast<int>(rest) * height + corner.y;
    corner.at = (row * width + corner.x) * channels;
    if (pixel >= pixels) {
      corner.y = kFarAbove;
    }
    return corner;
  }

  // A term's tap and channel; behind the last term, so far to the right that it is outside every input.
  BENCH_DEVICE Corner tap(std::uint32_t term) const {
    constexpr int kFarRight = 1 << 30;
    std::uint32_t rest = term;
    const auto channel = static_cast<int>(by_channels.take(rest));
    Corner corner;
    corner.x = static_cast<int>(by_kernel_w.take(rest)) * dilation_w;
    corner.y = static_cast<int>(rest) * dilation_h;
    corner.at = (corner.y * width + corner.x) * channels + channel;
    if (term >= depth) {
      corner.x = kFarRight;
    }
    return corner;
  }

  // Whether the tap of the window reads an input; then that is at window.at + tap.at.
  BENCH_DEVICE bool inside(const Corner& window, const Corner& tap) const {
    const int y = window.y + tap.y;
    const int x = window.x + tap.x;
    return y >= 0 && y < height && x >= 0 && x < width;
  }
};

}  // namespace bench::kernels::cuda
