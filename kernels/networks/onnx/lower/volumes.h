// Convolutions and pooling over three dimensions, as layers over maps.
#pragma once

#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// Whether the node's first input has three dimensions after its channels: N × C × D × H × W.
bool is_volume(const Lowering& node);

// The frames that a window covers lie side by side as channels of one map, so that its weights, in the order
// in which the file has them, are those of a convolution over maps.
void lower_volume_conv(Lowering& node);
// Over rows and columns first, then over frames.
void lower_volume_pool(Lowering& node, bool average);

}  // namespace bench::kernels::onnx
