#include "bench/model/products.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/model/sustained.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr double kPartialSumBytes = 8;  // an fp32 sum, written and read
constexpr double kTf32Joules = 2;       // of an operation in 16 bits

struct Tiling {
  double rows = 1;
  double columns = 1;
  double split = 1;
};

bool on_tensor_cores(const Gpu& gpu, Dtype dtype) {
  return dtype != Dtype::fp32 && gpu.flops_per_s.contains(dtype);
}

struct Product {
  const ProductUnit& unit;
  const Gpu& gpu;
  ProductSize size;
  double rate = 0;  // of one multiprocessor
  double edge = 0;
};

double compute_s(const Product& product, const Tiling& tiling) {
  const ProductUnit& unit = product.unit;
  const auto m = static_cast<double>(product.size.m);
  const auto n = static_cast<double>(product.size.n);
  const auto k = static_cast<double>(product.size.k);
  const double tiles = std::ceil(m / tiling.rows) * std::ceil(n / tiling.columns) * tiling.split;
  const double load = tiles / product.gpu.multiprocessors;
  const double waves = unit.whole * std::ceil(load) + (1 - unit.whole) * load;
  const double slower = 1 + product.edge * (1 / tiling.rows + 1 / tiling.columns);
  const double flops = 2 * tiling.rows * tiling.columns * (k / tiling.split + unit.ends);
  const double sums =
      tiling.split > 1
          ? tiling.split * kPartialSumBytes * m * n / (product.gpu.bytes_per_s * unit.cache) + unit.split_s
          : 0;
  return flops * waves * slower / product.rate + sums;
}

double product_s(const ProductCoefficients& coefficients, const Product& product, Dtype dtype) {
  const ProductUnit& unit = product.unit;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : coefficients.tiles) {
    Tiling tiling{.rows = static_cast<double>(rows), .columns = static_cast<double>(columns)};
    best = std::min(best, compute_s(product, tiling));
    for (const int split : coefficients.splits) {
      tiling.split = split;
      best = std::min(best, compute_s(product, tiling));
    }
  }
  const auto m = static_cast<double>(product.size.m);
  const auto n = static_cast<double>(product.size.n);
  const auto k = static_cast<double>(product.size.k);
  const double memory = static_cast<double>(bytes_of(dtype)) * (m * k + n * k + m * n) /
                        (product.gpu.bytes_per_s * unit.bandwidth);
  return unit.launch_s + std::pow(std::pow(best, unit.norm) + std::pow(memory, unit.norm), 1 / unit.norm);
}

PredictedProduct product_in(const ProductCoefficients& coefficients, const Gpu& gpu, Dtype dtype,
                            const ProductSize& size) {
  const bool tensor = on_tensor_cores(gpu, dtype);
  const bool halves = tensor && gpu.halves_sums;
  const bool doubled = !tensor && has_doubled_fp32(gpu);
  const ProductUnit& unit = tensor ? coefficients.tensor : coefficients.cores;
  const double factor = halves ? coefficients.half_rate : doubled ? coefficients.doubled : 1;
  const double joules = unit.energy.joules * (dtype == Dtype::tf32 ? kTf32Joules : 1);
  const SustainedRate rate =
      sustained_rate(gpu, factor * gpu.flops_per_s.at(tensor ? dtype : Dtype::fp32), compute_power(gpu),
                     {.joules = joules, .shrink = unit.energy.shrink});
  constexpr double kHalf = 0.5;  // a unit at half its rate is fed as fast as one at its full rate
  const Product product{.unit = unit,
                        .gpu = gpu,
                        .size = size,
                        .rate = unit.reach * rate.per_s / gpu.multiprocessors,
                        .edge = unit.edge * (halves ? kHalf : 1)};
  const bool is_measured =
      !halves && !doubled && dtype != Dtype::tf32 &&
      std::ranges::find(unit.capabilities, gpu.compute_capability) != unit.capabilities.end();
  return {
      .seconds = product_s(coefficients, product, dtype),
      .half_width80 = combined_deviation(
          {is_measured ? unit.half_width80 : std::max(unit.half_width80, coefficients.elsewhere_half_width80),
           coefficients.power_half_width80 * rate.power_share}),
      .is_measured = is_measured};
}

}  // namespace

PredictedProduct predicted_product(const ProductCoefficients& coefficients, const Gpu& gpu, Dtype dtype,
                                   const ProductSize& size) {
  PredictedProduct product = product_in(coefficients, gpu, dtype, size);
  if (dtype == Dtype::fp32 && gpu.flops_per_s.contains(Dtype::tf32)) {  // never faster than tf32
    product.seconds = std::max(product.seconds, product_in(coefficients, gpu, Dtype::tf32, size).seconds);
  }
  return product;
}

}  // namespace bench
