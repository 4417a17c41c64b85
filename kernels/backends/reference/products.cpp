#include "kernels/backends/reference/products.h"

#include <algorithm>
#include <array>
#include <vector>

namespace bench::kernels {
namespace {

// Rows whose sums one thread makes side by side, in vector registers. Sums of different rows have nothing to
// do with each other, so that this changes no rounding.
constexpr std::int64_t kRows = 32;
// Columns that a thread takes at a time, with all rows, so that their weights stay in its cache.
constexpr std::int64_t kColumns = 64;

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

// The same loops compiled for several generations of processors, chosen when the program starts: a network's
// reference answer takes seconds with wide vectors and a minute without. Thread sanitizer's runtime is not
// ready when that choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void multiply_add(const float* const* pixels, const float* weights, std::int64_t channels, double* sums) {
  constexpr std::int64_t kPixels = DotBlock::kPixels;
  constexpr std::int64_t kOutputs = DotBlock::kOutputs;
  std::array<std::array<double, kOutputs>, kPixels> block{};
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < kPixels; ++i) {
      for (std::int64_t k = 0; k < kOutputs; ++k) {
        block[i][k] += static_cast<double>(pixels[i][c]) * static_cast<double>(weights[c * kOutputs + k]);
      }
    }
  }
  for (std::int64_t i = 0; i < kPixels; ++i) {
    for (std::int64_t k = 0; k < kOutputs; ++k) {
      sums[i * kOutputs + k] += block[i][k];
    }
  }
}

}  // namespace

void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst) {
  auto* const add = __builtin_cpu_supports("avx512f") != 0 ? add_products_avx512
                    : __builtin_cpu_supports("avx2") != 0  ? add_products_avx2
                                                           : add_products_plain;
  const std::int64_t blocks = (rows + kRows - 1) / kRows;
  std::vector<double> packed(static_cast<std::size_t>(blocks * inner * kRows));  // [blocks][inner][kRows]
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t k = 0; k < inner; ++k) {
      packed[(m / kRows * inner + k) * kRows + m % kRows] = src[m * inner + k];
    }
  }
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t first = 0; first < columns; first += kColumns) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      for (std::int64_t n = first; n < std::min(first + kColumns, columns); ++n) {
        std::array<double, kRows> sums{};
        std::ranges::fill(sums, start.empty() ? 0.0 : static_cast<double>(start[n]));
        add(packed.data() + block * inner * kRows, weights.data() + n * inner, inner, sums.data());
        for (std::int64_t r = 0; r < std::min(kRows, rows - block * kRows); ++r) {
          dst[(block * kRows + r) * columns + n] = static_cast<float>(sums[r]);
        }
      }
    }
  }
}

void DotBlock::add(const float* weights, std::int64_t channels) {
  multiply_add(pixels.data(), weights, channels, sums.front().data());
}

}  // namespace bench::kernels
