#include "bench/model/step_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "bench/model/coefficients.h"
#include "bench/model/sustained.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

// HBM since Volta and GDDR6X reach a larger share of the data sheet's bandwidth than other memories.
double reached_bandwidth(const CoefficientSet& set, const Gpu& gpu) {
  constexpr int kVolta = 70;
  if (gpu.memory_kind.starts_with("hbm") && gpu.compute_capability >= kVolta) {
    return set.bandwidth_hbm;
  }
  const bool is_gddr6x = gpu.memory_kind == "gddr6x" || gpu.memory_kind == "gddr7";
  return is_gddr6x ? set.bandwidth_gddr6x : set.bandwidth_other;
}

GpuTime gpu_time(const GpuModel& model, const StepTerms& work, const StepSetting& setting) {
  const Gpu& gpu = model.gpu();
  const std::optional<Dtype> tensor = tensor_dtype(gpu, setting.dtype);
  const CoefficientSet& set = set_of(model.coefficients(), tensor.has_value());
  const CompiledFactors* const compiled =
      model.framework() == Framework::pytorch_compiled ? &model.coefficients().compiled : nullptr;
  // The compiler lays convolutions out channels-last.
  const auto& layout = setting.channels_last || compiled != nullptr ? set.channels_last : set.channels_first;
  const SustainedRate cores = sustained_rate(gpu, gpu.flops_per_s.at(Dtype::fp32), compute_power(gpu),
                                             {.joules = set.joules_fp32, .shrink = set.shrink});
  const SustainedRate fast = tensor ? sustained_rate(gpu, gpu.flops_per_s.at(*tensor), gpu.power_w,
                                                     {.joules = set.joules, .shrink = set.shrink})
                                    : cores;
  // No network was measured in fp32 on chips with doubled fp32 cores; products were.
  const double reached =
      fast.per_s * (!tensor && has_doubled_fp32(gpu) ? model.coefficients().products.doubled : 1);
  const double bandwidth = gpu.bytes_per_s * reached_bandwidth(set, gpu);
  GpuTime time;
  for (std::size_t i = 0; i < kProductClasses; ++i) {
    const bool depthwise = i == static_cast<std::size_t>(ProductClass::depthwise);
    time.products += (work.flops[i] * layout.flops[i] + work.grads[i] * layout.grads[i]) /
                     (depthwise ? cores.per_s : reached);
  }
  for (std::size_t i = 0; i < kTraffics; ++i) {
    time.memory +=
        work.bytes[i] * layout.bytes[i] * (compiled != nullptr ? compiled->bytes[i] : 1) / bandwidth;
  }
  time.tiles = work.tile * set.tile * gpu.multiprocessors / reached;
  time.launches = compiled != nullptr ? 0 : work.launches * set.launch_s;
  time.scale(compiled != nullptr ? compiled->gpu : 1);
  time.launches += compiled != nullptr ? work.launches * compiled->launch_s : 0;
  time.scale(model.evidence().gpu_factor);
  time.power_share = fast.power_share;  // a card that power limits clocks lower as a whole
  return time;
}

}  // namespace

std::optional<Dtype> tensor_dtype(const Gpu& gpu, Dtype dtype) {
  return dtype != Dtype::fp32 && gpu.flops_per_s.contains(dtype) ? std::optional(dtype) : std::nullopt;
}

bool is_16_bit(Dtype dtype) {
  return dtype == Dtype::fp16 || dtype == Dtype::bf16;
}

const CoefficientSet& set_of(const ModelCoefficients& coefficients, bool on_tensor_cores) {
  return on_tensor_cores ? coefficients.bits16 : coefficients.fp32;
}

StepTerms at_batch(const NetworkTerms& terms, std::int64_t batch) {
  StepTerms sum = terms.per_step;
  const auto samples = static_cast<double>(batch);
  for (std::size_t i = 0; i < kProductClasses; ++i) {
    sum.flops[i] += samples * terms.per_sample.flops[i];
    sum.grads[i] += samples * terms.per_sample.grads[i];
  }
  for (std::size_t i = 0; i < kTraffics; ++i) {
    sum.bytes[i] += samples * terms.per_sample.bytes[i];
  }
  sum.tile += samples * terms.per_sample.tile;
  sum.launches += samples * terms.per_sample.launches;
  return sum;
}

double flops_of(const NetworkTerms& terms, std::int64_t batch) {
  const auto sum = [](const StepTerms& of) {
    return std::accumulate(of.flops.begin(), of.flops.end(), 0.0) +
           std::accumulate(of.grads.begin(), of.grads.end(), 0.0);
  };
  return sum(terms.per_sample) * static_cast<double>(batch) + sum(terms.per_step);
}

OrderedTime ordered_time(const GpuModel& model, const StepTerms& work, const StepSetting& setting,
                         bool is_measured_kind) {
  OrderedTime ordered{.time = gpu_time(model, work, setting)};
  const Gpu& gpu = model.gpu();
  const double total = ordered.time.total();
  if (model.framework() == Framework::pytorch_compiled || !gpu.flops_per_s.contains(Dtype::tf32) ||
      total <= 0) {
    return ordered;
  }
  const auto in = [&](Dtype dtype) {
    StepSetting other = setting;
    other.dtype = dtype;
    return gpu_time(model, work, other).total();
  };
  if (setting.dtype == Dtype::fp32) {
    ordered.time.scale(std::max(1.0, in(Dtype::tf32) / total));
  } else if (setting.dtype == Dtype::tf32 && !is_measured_kind) {
    const double ratio = std::max(1.0, in(Dtype::fp32) / total);
    ordered.time.scale(std::sqrt(ratio));
    ordered.variance = std::pow(std::log(ratio) / 2 / kNormal80, 2);
  }
  return ordered;
}

double joined_time(double gpu, double host, double overlap) {
  const double longer = std::max(gpu, host);  // so that no power underflows
  return longer > 0 ? longer * std::pow(std::pow(gpu / longer, overlap) + std::pow(host / longer, overlap),
                                        1 / overlap)
                    : 0;
}

}  // namespace bench
