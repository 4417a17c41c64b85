#include "sweeps/kernels/predicted.h"

#include <numeric>
#include <string>

#include "bench/error.h"
#include "bench/model/coefficients.h"
#include "bench/model/products.h"
#include "bench/predicted_step.h"

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

bool is_fp16_product(const SweepPoint& point, const Device& device) {
  return workload_of(point) == "gemm" && point.spec.dtype == Dtype::fp16 &&
         device.model()->gpu().flops_per_s.contains(Dtype::fp16);
}

void add_work(const ProductSize& size, Dtype dtype, Json& model) {
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  model["flops"] = 2 * m * n * k;
  model["bytes"] = static_cast<double>(bytes_of(dtype)) * (m * k + k * n + m * n);
}

// Of an operation, by the terms of its step: arithmetic is rounded up to whole tiles.
void add_work(const NetworkTerms& terms, std::int64_t batch, Json& model) {
  const auto samples = static_cast<double>(batch);
  const auto sum = [&](const auto& per_sample, const auto& per_step) {
    return samples * std::accumulate(per_sample.begin(), per_sample.end(), 0.0) +
           std::accumulate(per_step.begin(), per_step.end(), 0.0);
  };
  model["flops"] =
      sum(terms.per_sample.flops, terms.per_step.flops) + sum(terms.per_sample.grads, terms.per_step.grads);
  model["bytes"] = sum(terms.per_sample.bytes, terms.per_step.bytes);
}

PredictedPoint predicted_fp16_product(const SweepPoint& point, const GpuModel& model) {
  const double step_ns = 1e9 * fp16_product_s(model.coefficients().products, model.gpu(), product_of(point));
  return {.name = point.name,
          .params = point.params,
          .step_ns = step_ns,
          .items_per_step = static_cast<double>(point.spec.batch),
          .memory = {},
          .model = {{"framework", name_of(model.framework())},
                    {"card", model.gpu().id},
                    {"products_ns", step_ns},
                    {"caveats", {"the model of fp16 products was fitted to two cards, and has no interval"}}},
          .parsed = point.parsed};
}

}  // namespace

bool can_be_predicted(const SweepPoint& point, const Device& device) {
  const bool is_our_own = workload_of(point) == "implicit_gemm";  // and of no library
  return is_fp16_product(point, device) || (!is_our_own && point.workload->eager_terms(false).has_value());
}

PredictedPoint predicted_kernel(const SweepPoint& point, Device& device) {
  if (!can_be_predicted(point, device)) {
    throw Unsupported("the model of GPUs knows no time of this operation");
  }
  PredictedPoint predicted = is_fp16_product(point, device) ? predicted_fp16_product(point, *device.model())
                                                            : predicted_point(point, device);
  if (workload_of(point) == "gemm") {
    add_work(product_of(point), point.spec.dtype, predicted.model);
  } else {
    add_work(*point.workload->eager_terms(false), point.spec.batch, predicted.model);
  }
  return predicted;
}

}  // namespace bench::sweeps
