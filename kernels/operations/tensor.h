// Tensors as the operations see them: four extents, layout and dtype of plain memory. A network's shapes have
// up to six dimensions (kernels/networks/graph/shape.h) and are folded into the four, [a, b, …] outermost
// first:
//   [c]   [n, c]   [n, h, c]          rows of features: the last dimension is c (nhwc)
//   [n, c, h, w]                      maps, in the layout that the device prefers
//   [n, c, h, w₁, w₂], [… w₃]         everything after h is w (nchw)
// A shape that is not maps lies in memory in the order of its dimensions, so a layer over the last dimension
// takes rows of it whatever the rank. The batch may be any dimension, or none.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bench/dtype.h"

namespace bench::kernels {

// Order of an activation tensor's elements, outermost first. In nChw16c channels are stored in groups
// of 16 that stay together; the last group is padded with zeros, which every operation keeps zero.
enum class Layout { nchw, nhwc, nchw16c };

std::string_view name_of(Layout layout);

// An activation: batch n, channels c, height h, width w. A matrix of rows × columns is n = rows, c = columns,
// h = w = 1.
struct TensorDesc {
  std::int64_t n = 0;
  std::int64_t c = 0;
  std::int64_t h = 1;
  std::int64_t w = 1;
  Layout layout = Layout::nhwc;
  Dtype dtype = Dtype::fp32;

  std::int64_t elements() const { return n * c * h * w; }  // without padding
  std::int64_t bytes() const;                              // as stored, channel padding counted
  bool operator==(const TensorDesc&) const = default;
};

// A layout as planes of pixels, each with the channels stored together: all of them in nhwc, one in nchw, 16
// in nchw16c.
struct ChannelBlocks {
  std::int64_t width;  // channels of a block
  std::int64_t count;  // blocks of a sample, the last of which may hold padding
};
ChannelBlocks channel_blocks(const TensorDesc& tensor);

// Where element (n, c, h, w) is stored, in elements.
std::int64_t stored_index(const TensorDesc& tensor, std::int64_t n, std::int64_t c, std::int64_t h,
                          std::int64_t w);

// Between host fp32 in NCHW order (desc.elements() values) and the stored form (desc.bytes() bytes, host
// memory). Rounds to nearest even; channel padding is written as zero.
void store(const TensorDesc& desc, std::span<const float> nchw, void* stored);
void load(const TensorDesc& desc, const void* stored, std::span<float> nchw);

// ||a - b||2 / ||b||2; infinity where a holds a value that is not finite; ||a|| where b is all zeros.
double relative_error(std::span<const float> a, std::span<const float> b);

// Seeded values in [-1, 1), the same on every platform; never zeros. Different streams are independent. The
// stream's value number `first` comes first.
void fill_random(std::span<float> values, std::uint64_t seed, std::uint64_t stream, std::uint64_t first = 0);

}  // namespace bench::kernels
