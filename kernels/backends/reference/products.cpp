#include "kernels/backends/reference/products.h"

#include <algorithm>
#include <vector>

namespace bench::kernels {
namespace {

constexpr std::int64_t kPixels = DotBlock::kPixels;
constexpr std::int64_t kOutputs = DotBlock::kOutputs;

// The same loops compiled for several generations of processors, chosen when the program starts: a network's
// reference answer takes seconds with wide vectors and a minute without. Thread sanitizer's runtime is not
// ready when that choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void multiply_add(const float* const* pixels, const float* weights, std::int64_t channels, double* sums) {
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

void DotBlock::add(const float* weights, std::int64_t channels) {
  multiply_add(pixels.data(), weights, channels, sums.front().data());
}

void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst) {
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t first = 0; first < columns; first += kOutputs) {
    const std::int64_t count = std::min(kOutputs, columns - first);
    std::vector<float> block(static_cast<std::size_t>(inner * kOutputs));  // [inner][columns]
    for (std::int64_t k = 0; k < inner; ++k) {
      for (std::int64_t n = 0; n < count; ++n) {
        block[k * kOutputs + n] = weights[(first + n) * inner + k];
      }
    }
    for (std::int64_t m = 0; m < rows; m += kPixels) {
      DotBlock dots;
      for (std::int64_t i = 0; i < kPixels; ++i) {
        dots.pixels[i] = &src[std::min(m + i, rows - 1) * inner];
      }
      dots.add(block.data(), inner);
      for (std::int64_t i = 0; i < std::min(kPixels, rows - m); ++i) {
        for (std::int64_t n = 0; n < count; ++n) {
          const double begin = start.empty() ? 0.0 : static_cast<double>(start[first + n]);
          dst[(m + i) * columns + first + n] = static_cast<float>(begin + dots.sums[i][n]);
        }
      }
    }
  }
}

}  // namespace bench::kernels
