// An AttentionPass as an operation graph of cuDNN's descriptors.
#pragma once

#include "kernels/backends/cudnn/attention.h"
#include "kernels/backends/cudnn/toolkit/operation_graph.h"

namespace bench::kernels::cudnn {

// Its operations in `graph`, which is empty and not yet finalized: those, and in the order, by which cuDNN
// recognises its fused kernels.
void describe(const AttentionPass& pass, OperationGraph& graph);

}  // namespace bench::kernels::cudnn
