// A layout seen as planes of pixels, each with the channels that lie together: all of them in nhwc, one in
// nchw, 16 in nchw16c. What moves whole pixels needs to know no more of layouts and dtypes.
#pragma once

#include <cstdint>

#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct ChannelBlocks {
  std::int64_t width;  // channels of a block
  std::int64_t count;  // blocks of a sample, the last of which may hold padding
};

inline ChannelBlocks channel_blocks(const TensorDesc& tensor) {
  const std::int64_t width = tensor.layout == Layout::nhwc   ? tensor.c
                             : tensor.layout == Layout::nchw ? 1
                                                             : 16;
  return {.width = width, .count = (tensor.c + width - 1) / width};
}

}  // namespace bench::kernels
