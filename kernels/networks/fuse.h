// The inference pass: fewer layers, the same function.
//
// - A batch norm behind a convolution becomes part of its weights and bias: with scale γ, shift β, mean μ,
// variance σ²,
//   w' = w · γ/√(σ²+ε) and b' = (b − μ) · γ/√(σ²+ε) + β, for each output channel.
// - An add becomes the residual of the convolution that is its later operand.
// - An activation goes into the convolution, add or linear layer before it.
// Each only where nobody else reads what disappears.
#pragma once

#include "kernels/networks/graph.h"

namespace bench::kernels {

Graph fuse_for_inference(const Graph& graph);

}  // namespace bench::kernels
