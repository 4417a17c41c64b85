// Canonicalisation of copies that only move elements, where the elements are in their order already.
#pragma once

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// The same function. A copy that only moves a result's elements reads that result directly: heads that are
// put side by side again need no copy. Layers that nothing reads are left out.
Graph canonicalised(const Graph& graph);

}  // namespace bench::kernels
