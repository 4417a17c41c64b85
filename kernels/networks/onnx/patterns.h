// Groups of ONNX nodes that compute one layer, replaced by one node before anything is interpreted: exporters
// write a layer norm as nine nodes and a GELU as five.
//
// New nodes have the domain "bench" and these operators (attributes in brackets):
//
//   LayerNorm(x, scale?, shift?)   over the last dimension; scale and shift have one dimension [epsilon]
//   GroupNorm(x, scale?, shift?)   x: N × C × …; scale and shift: C elements and any further dimensions of 1
//                                  [groups, epsilon]
//   Gelu(x)                        [approximate: "none" or "tanh"]
//   Silu(x)                        x · sigmoid(x)
//   HardSwish(x)                   x · clip(x + 3, 0, 6) / 6
//   ScatterGrid(x, updates, i0, …) ScatterND at the places whose index along dimension d is i_d, each
//   repeated
//                                  to the updates' places [reduction]
//
// and clip(x + 3, 0, 6) / 6 becomes ONNX's HardSigmoid(x) [alpha: 1/6, beta: 1/2].
//
// A node takes the name of the last one that it replaces, so that a message leads to the file. Attention is
// found later, where shapes are known: kernels/networks/passes/attention.cpp.
#pragma once

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Recognises what it knows and leaves everything else as it is. A value that somebody else reads, or that is
// an output of the network, is not swallowed. Nodes that only made what is no longer read are removed.
void recognise_patterns(Model& model);

}  // namespace bench::kernels::onnx
