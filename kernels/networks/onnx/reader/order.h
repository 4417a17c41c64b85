// The order of a graph's nodes, and whether every tensor is made once.
#pragma once

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Sorts the nodes so that each is after those that make its inputs, in graphs of attributes too; nodes that
// are in such an order keep it. Throws Refusal: a cycle, a tensor that nothing makes, or that two nodes make.
void order_nodes(Graph& graph);

}  // namespace bench::kernels::onnx
