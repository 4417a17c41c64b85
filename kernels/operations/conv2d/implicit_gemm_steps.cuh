// Convolution as a product of matrices whose left one is never stored: row m of it is the window of output
// pixel m, gathered from the input while it is needed.
//
//   dst[m][k] = Σ_d window(m, d) · weights[d][k]     d = (r · kernel_w + s) · channels + c
//
// Here: where the terms lie in the input, a block's part of dst, and its steps through the terms.
#pragma once

#include <cstdint>

#include "kernels/backends/cuda/units.cuh"

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
    std::uint32_t rest = pixel < pixels ? pixel : 0;
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

  // A term's tap and channel; after the last term, so far to the right that it is outside every input.
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

// The kPixels × kOutputs of dst that a block does; the tiles of one row of pixels follow each other.
struct OutputTile {
  std::uint32_t first_pixel;
  int first_output;

  template <int kPixels, int kOutputs, class Thread>
  static BENCH_DEVICE OutputTile of(const Thread& thread, std::uint32_t tiles_across) {
    const auto block = static_cast<std::uint32_t>(thread.block());
    const std::uint32_t pixel_tile = block / tiles_across;
    return {pixel_tile * kPixels, static_cast<int>(block - pixel_tile * tiles_across) * kOutputs};
  }
};

// Takes a block through the terms, kDepth at a time, with two rooms in shared memory: fetch(first term) reads
// the next terms into registers while multiply(room) adds up those in one room, and keep(room) writes them
// into the other.
template <int kDepth, class Thread, class Fetch, class Keep, class Multiply>
BENCH_DEVICE void for_each_step(const Thread& thread, std::uint32_t depth, const Fetch& fetch,
                                const Keep& keep, const Multiply& multiply) {
  fetch(0);
  keep(0);
  thread.sync();
  int room = 0;
  for (std::uint32_t step = 0; step < depth; step += kDepth) {
    const bool more = step + kDepth < depth;
    if (more) {
      fetch(step + kDepth);
    }
    multiply(room);
    // The other room was read before the last barrier.
    room = 1 - room;
    if (more) {
      keep(room);
    }
    thread.sync();
  }
}

}  // namespace bench::kernels::cuda
