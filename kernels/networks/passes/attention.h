// Attention written out as layers, found and replaced by the layer that computes it at once.
#pragma once

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// The same function, in which each
//
//   softmax(scale · q kᵀ (+ mask)) v,   q, k, v: [batch, heads, sequence, features], heads first
//
// is an attention layer that reads the rows which q, k and v were cut from: of one linear layer for all
// three, of three, or of sequences before the batch. The scale may be anywhere before the softmax. A mask is
// a constant: of zeros, or one that hides later positions. Whatever does not match, or has a value on the way
// that another layer reads, stays as it is.
Graph with_attention(const Graph& graph);

// Whether a graph's attention scales its scores, after their product, as code does that writes attention out.
// Where PyTorch computes it at once, its exporter scales queries and keys. False without attention.
bool scales_scores(const Graph& graph);

}  // namespace bench::kernels
