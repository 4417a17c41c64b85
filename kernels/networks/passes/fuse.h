// The inference pass: fewer layers, the same function. A layer that nobody else reads from disappears into
// the one before it, where that takes it over: a batch norm into a convolution's weights, a sum into the
// later of its operands, an activation into what comes before it.
#pragma once

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

Graph fuse_for_inference(const Graph& graph);

}  // namespace bench::kernels
