// Attention's products as strided batches of matrices, where the heads lie in the rows of src, dst and their
// gradients. Asks no library and runs in every build.
//
// A batch has one stride, but heads lie at one distance and samples at another. So a pass is done in rounds:
// over the samples, with all heads of one in a batch, or over the heads, with that head of all samples in a
// batch; whichever makes fewer rounds.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>

#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::cuda {

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

// The alignment of every address that a round starts at: heads and squares need not fill an access.
inline std::int64_t alignment_of(const Attention& spec) {
  const std::int64_t each = bytes_of(spec.dtype);
  return std::gcd(std::int64_t{kAccess},
                  std::gcd(spec.head_size * each, spec.sequence * spec.sequence * each));
}

inline AttentionProducts::AttentionProducts(const Attention& spec) {
  const bool over_heads = spec.heads < spec.batch;
  rounds = over_heads ? spec.heads : spec.batch;
  matrices = over_heads ? spec.batch : spec.heads;
  const auto steps = [&](std::int64_t row, std::int64_t head, std::int64_t sample) {
    return HeadSteps{.row = row, .matrix = over_heads ? sample : head, .round = over_heads ? head : sample};
  };
  const std::int64_t length = spec.sequence;
  const std::int64_t square = length * length;
  qkv = steps(3 * spec.width(), spec.head_size, length * 3 * spec.width());
  out = steps(spec.width(), spec.head_size, length * spec.width());
  saved = steps(length, square, spec.heads * square);
  scratch = {.row = length, .matrix = square, .round = 0};
  const bool saves = (spec.training || !spec.forward());
  probabilities = saves ? saved : scratch;
  const bool narrow = bytes_of(spec.dtype) < bytes_of(Dtype::fp32);
  scores = narrow || !spec.forward() ? scratch : probabilities;

  const auto product = [&](std::int64_t inner, std::int64_t columns, const cublaslt::Stored& a,
                           const cublaslt::Stored& b, const HeadSteps& d) {
    return cublaslt::Product{.dtype = spec.dtype,
                             .result = spec.dtype,
                             .rows = length,
                             .inner = inner,
                             .columns = columns,
                             .a = a,
                             .b = b,
                             .d = d.stored(),
                             .batch = matrices,
                             .alignment = alignment_of(spec)};
  };
  const std::int64_t features = spec.head_size;
  query_key = product(features, length, qkv.stored(), qkv.stored(true), scores);
  query_key.result = Dtype::fp32;
  query_key.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(features)));
  probabilities_value = product(length, features, probabilities.stored(), qkv.stored(), out);

  diff_value = product(length, features, saved.stored(true), out.stored(), qkv);
  diff_probabilities = product(features, length, out.stored(), qkv.stored(true), scratch);
  diff_probabilities.result = Dtype::fp32;
  diff_query = product(length, features, scratch.stored(), qkv.stored(), qkv);
  diff_key = product(length, features, scratch.stored(true), qkv.stored(), qkv);
}

}  // namespace bench::kernels::cuda
