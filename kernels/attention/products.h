// Attention's products as strided batches of matrices, where the heads lie in the rows of src, dst and their
// gradients. Asks no library and runs in every build.
//
// A batch has one stride, but heads lie at one distance and samples at another. So a pass is done in rounds:
// over the samples, all heads of one in a batch, or over the heads, that head of all samples in a batch;
// whichever makes fewer rounds.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/cublaslt/product.h"

namespace bench::kernels {

// Where the heads' matrices are, in elements: from row to row, from matrix to matrix of a round, from the
// first matrix of a round to the next round's.
struct HeadSteps {
  std::int64_t row = 0, matrix = 0, round = 0;

  cublaslt::Stored stored(bool transposed = false) const {
    return {.transposed = transposed, .step = row, .batch_step = matrix};
  }
};

struct AttentionProducts {
  explicit AttentionProducts(const Attention& spec);

  std::int64_t rounds = 1;
  std::int64_t matrices = 1;  // of a round
  HeadSteps qkv;              // query, key or value within src and diff_src
  HeadSteps out;              // within dst and diff_dst
  HeadSteps saved;            // the squares of all heads, as `saved` holds them
  HeadSteps scratch;          // the squares of one round, which the next overwrites

  HeadSteps probabilities;  // P: in `saved`, or in scratch where nothing is saved
  HeadSteps scores;         // the fp32 squares: P's own memory where P is fp32, else scratch

  // Forward. The scores are fp32, and scaled with 1/√d.
  cublaslt::Product query_key;            // Q Kᵀ → scores
  cublaslt::Product probabilities_value;  // P V → O
  // Backward. dP is fp32; dS comes in the dtype.
  cublaslt::Product diff_value;          // Pᵀ dO
  cublaslt::Product diff_probabilities;  // dO Vᵀ → dP
  cublaslt::Product diff_query;          // dS K
  cublaslt::Product diff_key;            // dSᵀ Q
};

}  // namespace bench::kernels
