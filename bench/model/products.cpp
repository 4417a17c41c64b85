#include "bench/model/products.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/model/sustained.h"

namespace bench {
namespace {

constexpr double kBytes = 2;            // of fp16 and bf16
constexpr double kPartialSumBytes = 8;  // an fp32 sum, written and read

struct Tiling {
  double rows = 1;
  double columns = 1;
  double split = 1;
};

double compute_s(const ProductCoefficients& coefficients, const Gpu& gpu, double rate,
                 const ProductSize& size, const Tiling& tiling) {
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  const double tiles = std::ceil(m / tiling.rows) * std::ceil(n / tiling.columns) * tiling.split;
  const double load = tiles / gpu.multiprocessors;
  const double waves = coefficients.whole * std::ceil(load) + (1 - coefficients.whole) * load;
  const double slower = 1 + coefficients.edge * (1 / tiling.rows + 1 / tiling.columns);
  const double flops = 2 * tiling.rows * tiling.columns * (k / tiling.split + coefficients.ends);
  const double sums = tiling.split > 1
                          ? tiling.split * kPartialSumBytes * m * n / (gpu.bytes_per_s * coefficients.cache) +
                                coefficients.split_s
                          : 0;
  return flops * waves * slower / (rate / gpu.multiprocessors) + sums;
}

}  // namespace

double product_s(const ProductCoefficients& coefficients, const Gpu& gpu, Dtype dtype,
                 const ProductSize& size) {
  const double rate =
      sustained_rate(gpu, gpu.flops_per_s.at(dtype), coefficients.joules, coefficients.shrink);
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : coefficients.tiles) {
    Tiling tiling{.rows = static_cast<double>(rows), .columns = static_cast<double>(columns)};
    best = std::min(best, compute_s(coefficients, gpu, rate, size, tiling));
    for (const int split : coefficients.splits) {
      tiling.split = split;
      best = std::min(best, compute_s(coefficients, gpu, rate, size, tiling));
    }
  }
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  const double memory = kBytes * (m * k + n * k + m * n) / (gpu.bytes_per_s * coefficients.bandwidth);
  const double norm = coefficients.norm;
  return coefficients.launch_s + std::pow(std::pow(best, norm) + std::pow(memory, norm), 1 / norm);
}

}  // namespace bench
