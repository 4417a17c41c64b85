// The matrix product of the reference implementations: sums in double, each in the order of its terms.
#pragma once

#include <cstdint>
#include <span>

namespace bench::kernels {

// dst[m,n] = start[n] + Σ_k src[m,k] · weights[n,k]; start may be empty, for zeros. Row-major. Threads take
// columns, and a column's weights are multiplied with several rows of src at once: an oracle for networks of
// a hundred million weights has to answer within seconds.
void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst);

}  // namespace bench::kernels
