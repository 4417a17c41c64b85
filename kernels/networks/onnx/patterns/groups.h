// The groups of nodes that are recognised. Each function looks for one kind of group around a node that is
// characteristic of it, replaces it, and says whether it did.
#pragma once

#include "kernels/networks/onnx/patterns/graph_index.h"

namespace bench::kernels::onnx {

// Around Erf, Tanh, Sigmoid, HardSigmoid and Clip.
bool recognise_activation(GraphIndex& index, GraphIndex::NodeId node);
// Around Sqrt and Pow.
bool recognise_layer_norm(GraphIndex& index, GraphIndex::NodeId node);
// Around InstanceNormalization.
bool recognise_group_norm(GraphIndex& index, GraphIndex::NodeId node);
// Around ScatterND.
bool recognise_scatter(GraphIndex& index, GraphIndex::NodeId node);

}  // namespace bench::kernels::onnx
