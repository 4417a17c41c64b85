// The convolutions that eager PyTorch asks cuDNN for in a step.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/eager/terms.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {

// Each once, of a whole step's batch: the forward pass; in training the gradients of the weights, and those
// of inputs that want one. Alone, since PyTorch fuses nothing after them. Without depthwise convolutions,
// which PyTorch computes by kernels of its own that need no workspace.
std::vector<Conv2d> eager_convolutions(const Graph& graph, const EagerSetting& setting, std::int64_t batch,
                                       Layout layout);

}  // namespace bench::kernels
