// Re-batching: which dimension of a reshaped value carries the batch.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/onnx/constants/constant.h"

namespace bench::kernels::onnx {

// The dimensions that a Reshape of `in` to `target` makes: 0 keeps the input's dimension unless
// `zero_is_size`, −1 takes the remaining elements. A target of plain numbers contains the batch that the file
// was exported with, `file_batch`. A Reshape keeps the elements' order. So the batch belongs to the dimension
// before which the target has as many elements as the input has before its batch. It may be a factor of that
// dimension, as in 64 · batch windows. Throws Refused.
Extents reshaped(const Extents& in, const std::vector<Number>& target, bool zero_is_size,
                 std::int64_t file_batch);

// Dimensions `first` up to below `last` as one.
Extent merged(const Extents& dims, std::size_t first, std::size_t last);

// The dimensions that two values are repeated to, as NumPy broadcasts. Where k · batch elements meet k
// others, each sample's meet those; where they meet those of the batch, each sample's meet its own one.
// Throws Refused.
Extents broadcast(const Extents& a, const Extents& b);

}  // namespace bench::kernels::onnx
