// A Convolution as an operation graph of cuDNN's descriptors.
#pragma once

#include "kernels/backends/cudnn/convolution.h"
#include "kernels/backends/cudnn/toolkit/operation_graph.h"

namespace bench::kernels::cudnn {

// Its operations in `graph`, which is empty and not yet finalized.
void describe(const Convolution& convolution, OperationGraph& graph);

}  // namespace bench::kernels::cudnn
