// Products of matrices side by side that every implementation is tried with.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::testing {

// Attention's, with leading dimensions alike; matrices of one operand, or of either along another dimension,
// that meet all of the other's; single rows and columns; no leading dimension at all.
inline std::vector<BatchedMatmul> batched_matmuls(Dtype dtype) {
  std::vector<BatchedMatmul> all;
  const auto add = [&](const BatchedMatmul::Leading& a, const BatchedMatmul::Leading& b, std::int64_t rows,
                       std::int64_t inner, std::int64_t columns, float scale = 1) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        all.push_back({.a_leading = a,
                       .b_leading = b,
                       .rows = rows,
                       .inner = inner,
                       .columns = columns,
                       .transpose_a = transpose_a,
                       .transpose_b = transpose_b,
                       .scale = scale,
                       .dtype = dtype});
      }
    }
  };
  add({1, 1, 2, 3}, {1, 1, 2, 3}, 17, 16, 17, 0.25F);
  add({1, 1, 2, 3}, {1, 1, 1, 1}, 5, 7, 9);
  add({1, 1, 1, 3}, {1, 1, 4, 3}, 6, 8, 5);
  add({1, 2, 1, 3}, {1, 1, 5, 3}, 4, 8, 8);
  add({2, 3, 2, 1}, {2, 1, 2, 2}, 3, 5, 4, -2);
  add({1, 1, 1, 6}, {1, 1, 1, 6}, 1, 33, 1);
  add({1, 1, 1, 1}, {1, 1, 1, 1}, 8, 1, 3);
  return all;
}

inline std::string described(const BatchedMatmul& spec) {
  return fmt::format("{} {} and {} matrices, {}x{}{} by {}{}", name_of(spec.dtype),
                     fmt::join(spec.a_leading, "x"), fmt::join(spec.b_leading, "x"), spec.rows, spec.inner,
                     spec.transpose_a ? "T" : "", spec.columns, spec.transpose_b ? "T" : "");
}

}  // namespace bench::kernels::testing
