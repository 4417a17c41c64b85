// Batch norms that an exporter may have folded into convolutions, put back: what training needs.
#pragma once

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// Whether convolutions hold the batch norms of the network that was exported.
enum class FoldedNorms {
  none,
  perhaps,  // most have a bias, and nothing is normalised
  some,     // those that say so (ConvOptions::holds_norm)
};
FoldedNorms folded_norms(const Graph& graph);

// Each convolution that says so loses its bias and is followed by a batch norm; where none does, each with a
// bias, but of single pixels.
Graph with_norms_unfolded(const Graph& graph);

}  // namespace bench::kernels
