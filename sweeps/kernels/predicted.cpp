#include "sweeps/kernels/predicted.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/model/coefficients.h"
#include "bench/model/products.h"
#include "bench/predicted_step.h"
#include "bench/run/gpu_files.h"

namespace bench::sweeps {
namespace {

std::string workload_of(const SweepPoint& point) {
  return point.params.value("workload", "");
}

std::int64_t number_of(const SweepPoint& point, const std::string& option) {
  return point.params.value(option, std::int64_t{0});
}

ProductSize product_of(const SweepPoint& gemm) {
  return {.m = gemm.spec.batch, .n = number_of(gemm, "columns"), .k = number_of(gemm, "inner")};
}

bool is_product(const SweepPoint& point) {
  return workload_of(point) == "gemm";
}

Work work_of(const ProductSize& size, Dtype dtype) {
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  return {.samples = m,
          .flops = 2 * m * n * k,
          .fixed_bytes = static_cast<double>(bytes_of(dtype)) * (m * k + k * n + m * n)};
}

// Of an operation, by the terms of its step: arithmetic is rounded up to whole tiles.
Work work_of(const NetworkTerms& terms, std::int64_t batch) {
  const auto samples = static_cast<double>(batch);
  const auto sum = [&](const auto& per_sample, const auto& per_step) {
    return samples * std::accumulate(per_sample.begin(), per_sample.end(), 0.0) +
           std::accumulate(per_step.begin(), per_step.end(), 0.0);
  };
  return {.samples = samples,
          .flops = sum(terms.per_sample.flops, terms.per_step.flops) +
                   sum(terms.per_sample.grads, terms.per_step.grads),
          .fixed_bytes = sum(terms.per_sample.bytes, terms.per_step.bytes)};
}

// Throws Unsupported.
Point predicted_product_point(const SweepPoint& point, const GpuModel& model) {
  if (const auto reason = model.lacks_units(point.spec.dtype)) {
    throw Unsupported(*reason);
  }
  const ProductCoefficients& products = model.coefficients().products;
  const Gpu& gpu = model.gpu();
  const PredictedProduct product = predicted_product(products, gpu, point.spec.dtype, product_of(point));
  const double width = std::exp(product.half_width80);
  const double step_ns = 1e9 * product.seconds;
  std::vector<std::string> caveats;
  if (!product.is_measured) {
    constexpr int kTen = 10;
    caveats.push_back(fmt::format(
        "{} products were not measured on a card of compute capability {}.{}, but on {}: expect a "
        "larger error",
        name_of(point.spec.dtype), gpu.compute_capability / kTen, gpu.compute_capability % kTen,
        fmt::join(products.cards, ", ")));
  }
  return {.name = point.name,
          .params = point.params,
          .origin = Origin::predicted,
          .items_per_step = static_cast<double>(point.spec.batch),
          .prediction = {.step_ns = {.value = step_ns, .ci95 = Interval{step_ns / width, step_ns * width}},
                         .model = {{"framework", name_of(model.framework())},
                                   {"card", model.gpu().id},
                                   {"products_ns", step_ns},
                                   {"caveats", caveats}}}};
}

// Memory-bound steps of networks may read from a cache, and the fit gives such classes more than the memory's
// bandwidth: an operation that computes nothing moves its bytes no faster than the data sheet says.
void keep_below_roof(Point& point, const Gpu& gpu) {
  Estimate& step = point.prediction.step_ns;
  const double least_ns = 1e9 * point.work.fixed_bytes / gpu.bytes_per_s;
  step = scaled(step, point.work.flops > 0 ? 1 : std::max(1.0, least_ns / step.value));
}

}  // namespace

bool can_be_predicted(const SweepPoint& point) {
  const bool is_our_own = workload_of(point) == "implicit_gemm";  // and of no library
  return is_product(point) || (!is_our_own && point.workload->eager_terms({}).has_value());
}

Point predicted_kernel(const SweepPoint& point, Device& device) {
  if (!can_be_predicted(point)) {
    throw Unsupported("the model of GPUs knows no time of this operation");
  }
  const GpuModel& model = *device.model();
  // The kernel alone: launches overlap where a step has many.
  const GpuModel alone(model.gpu(), model.framework(), model.coefficients(), {.host_launch_s = 0});
  Point predicted =
      is_product(point) ? predicted_product_point(point, model) : predicted_point(point, device, alone);
  predicted.work = is_product(point) ? work_of(product_of(point), point.spec.dtype)
                                     : work_of(*point.workload->eager_terms({}), point.spec.batch);
  predicted.prediction.model["flops"] = predicted.work.flops;
  predicted.prediction.model["bytes"] = predicted.work.fixed_bytes;
  keep_below_roof(predicted, model.gpu());
  return predicted;
}

}  // namespace bench::sweeps
