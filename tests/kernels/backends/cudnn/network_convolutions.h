// Every convolution that the networks ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::testing {

// For one batch and dtype, NHWC, at the size of each network's published figures: of inference with all that
// is fused after it, of training in three directions. Those that several layers or networks share come once.
std::vector<Conv2d> network_convolutions(std::int64_t batch, Dtype dtype);

}  // namespace bench::kernels::testing
