// Batch norms that an exporter may have folded into convolutions, put back: what training needs.
#pragma once

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// Whether an exporter may have folded batch norms into the convolutions: most have a bias, and nothing is
// normalised.
bool may_have_folded_norms(const Graph& graph);

// Each convolution with a bias, but of single pixels, loses it and is followed by a batch norm.
Graph with_norms_unfolded(const Graph& graph);

}  // namespace bench::kernels
