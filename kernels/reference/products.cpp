#include "kernels/reference/products.h"

#include <algorithm>
#include <array>
#include <vector>

namespace bench::kernels {
namespace {

// Rows whose sums one thread makes side by side, in vector registers. Sums of different rows have nothing to
// do with each other, so that this changes no rounding.
constexpr std::int64_t kRows = 32;

// sums[r] += Σ_k src[k][r] · weights[k]
[[gnu::always_inline]] inline void add_products(const double* src, const float* weights, std::int64_t inner,
                                                double* sums) {
  std::array<double, kRows> partial{};
  std::copy_n(sums, kRows, partial.begin());
  for (std::int64_t k = 0; k < inner; ++k) {
    const double weight = weights[k];
#pragma omp simd
    for (std::int64_t r = 0; r < kRows; ++r) {
      partial[r] += src[k * kRows + r] * weight;
    }
  }
  std::copy_n(partial.begin(), kRows, sums);
}

[[gnu::target("avx2")]] void add_products_avx2(const double* src, const float* weights, std::int64_t inner,
                                               double* sums) {
  add_products(src, weights, inner, sums);
}

[[gnu::target("avx512f")]] void add_products_avx512(const double* src, const float* weights,
                                                    std::int64_t inner, double* sums) {
  add_products(src, weights, inner, sums);
}

void add_products_plain(const double* src, const float* weights, std::int64_t inner, double* sums) {
  add_products(src, weights, inner, sums);
}

}  // namespace

void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst) {
  auto* const add = __builtin_cpu_supports("avx512f") != 0 ? add_products_avx512
                    : __builtin_cpu_supports("avx2") != 0  ? add_products_avx2
                                                           : add_products_plain;
  std::vector<double> block(static_cast<std::size_t>(inner * kRows));  // [inner][kRows]
  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t here = std::min(kRows, rows - first);
    for (std::int64_t r = 0; r < here; ++r) {
      for (std::int64_t k = 0; k < inner; ++k) {
        block[k * kRows + r] = src[(first + r) * inner + k];
      }
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t n = 0; n < columns; ++n) {
      std::array<double, kRows> sums{};
      std::ranges::fill(sums, start.empty() ? 0.0 : static_cast<double>(start[n]));
      add(block.data(), weights.data() + n * inner, inner, sums.data());
      for (std::int64_t r = 0; r < here; ++r) {
        dst[(first + r) * columns + n] = static_cast<float>(sums[r]);
      }
    }
  }
}

}  // namespace bench::kernels
