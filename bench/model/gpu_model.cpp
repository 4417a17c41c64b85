#include "bench/model/gpu_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "bench/model/coefficients.h"
#include "bench/model/step_caveats.h"
#include "bench/model/step_certainty.h"
#include "bench/model/step_time.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr double kNanoseconds = 1e9;
// A network without its norms takes up to a third less: the time is put between the two.
constexpr double kNormsShare = 1.0 / 3;

constexpr std::array<std::pair<Framework, std::string_view>, 3> kFrameworks{
    {{Framework::pytorch, "pytorch"},
     {Framework::pytorch_compiled, "pytorch-compiled"},
     {Framework::bench, "bench"}}};
constexpr std::array<std::pair<AttentionForm, std::string_view>, 2> kAttentionForms{
    {{AttentionForm::fused, "fused"}, {AttentionForm::eager, "eager"}}};

}  // namespace

std::string_view name_of(Framework framework) {
  return std::ranges::find(kFrameworks, framework, &std::pair<Framework, std::string_view>::first)->second;
}

std::optional<Framework> parse_framework(std::string_view text) {
  const auto* const found =
      std::ranges::find(kFrameworks, text, &std::pair<Framework, std::string_view>::second);
  return found == kFrameworks.end() ? std::nullopt : std::optional(found->first);
}

std::string_view name_of(AttentionForm form) {
  return std::ranges::find(kAttentionForms, form, &std::pair<AttentionForm, std::string_view>::first)->second;
}

std::optional<AttentionForm> parse_attention(std::string_view text) {
  const auto* const found =
      std::ranges::find(kAttentionForms, text, &std::pair<AttentionForm, std::string_view>::second);
  return found == kAttentionForms.end() ? std::nullopt : std::optional(found->first);
}

GpuModel::GpuModel(Gpu gpu, Framework framework, const ModelCoefficients& coefficients, GpuEvidence evidence)
    : gpu_(std::move(gpu)), framework_(framework), coefficients_(coefficients), evidence_(evidence) {}

std::optional<std::string> GpuModel::lacks_units(Dtype dtype) const {
  const bool needs_units = dtype == Dtype::bf16 || dtype == Dtype::tf32;
  return needs_units && !gpu_.flops_per_s.contains(dtype)
             ? std::optional(fmt::format("{} has no units for {}", display_name(gpu_), name_of(dtype)))
             : std::nullopt;
}

std::optional<std::string> GpuModel::unsupported(const StepSetting& setting) const {
  if (auto reason = lacks_units(setting.dtype)) {
    return reason;
  }
  if (setting.cast_whole && setting.dtype != Dtype::fp16) {
    return "only fp16 is predicted with the model cast whole";
  }
  if (framework_ == Framework::bench && evidence_.reference == GpuEvidence::Reference::none) {
    return "this program's own engine is predicted from a measured result only; see bench predict --from";
  }
  if (framework_ != Framework::pytorch_compiled) {
    return std::nullopt;
  }
  if (setting.train || setting.cast_whole || !is_16_bit(setting.dtype)) {
    return "torch.compile was measured in inference with autocast only; ask for --mode infer --dtype fp16";
  }
  if (!tensor_dtype(gpu_, setting.dtype)) {
    return fmt::format("torch.compile was measured on tensor cores only, which {} lacks", display_name(gpu_));
  }
  return std::nullopt;
}

PredictedStep GpuModel::step(const NetworkTerms& terms, const StepSetting& setting) const {
  const StepTerms work = at_batch(terms, setting.batch);
  const CoefficientSet& set = set_of(coefficients_, tensor_dtype(gpu_, setting.dtype).has_value());
  const ModelSpread& spread = terms.is_language ? coefficients_.language : coefficients_.image;
  const KindEvidence kind = kind_evidence(*this, work, setting);
  OrderedTime ordered = ordered_time(*this, work, setting, kind.is_measured);
  GpuTime& time = ordered.time;
  const double fitted = time.total();
  // A model cast whole was measured with convolutions of 2020.
  time.scale(setting.cast_whole && is_16_bit(setting.dtype) && kind.network != NetworkKind::attention
                 ? set.cast_whole
                 : 1);
  const double norms = terms.may_lack_norms ? std::sqrt(1 + kNormsShare) : 1;
  time.scale(norms);
  const double gpu = time.total();
  // The host launches the same operations in tf32 as in fp32.
  const CoefficientSet& hosts = setting.dtype == Dtype::tf32 ? coefficients_.fp32 : set;
  const double host = framework_ == Framework::pytorch
                          ? work.launches * evidence_.host_launch_s.value_or(hosts.host_launch_s) *
                                (setting.train ? hosts.host_train : 1) * norms
                          : 0;
  const double step = joined_time(gpu, host, hosts.overlap);
  if (!(step > 0)) {
    return {};
  }
  const double host_share = std::pow(host / step, hosts.overlap);
  const double power = coefficients_.power_spread * time.power_share * (1 - host_share);
  const double further = kind.variance + ordered.variance + power * power;
  const double lacking = std::log(norms) / kNormal80;
  const double own = combined_deviation({own_deviation(*this, terms, setting.dtype, further), lacking});
  // Code of other forms, by how many times the step its time is.
  const auto in_form = [&](const std::array<double, kTraffics>& bytes, double weights, double sign) {
    StepTerms other = work;
    other.bytes[static_cast<std::size_t>(Traffic::weights)] += sign * weights;
    for (std::size_t i = 0; i < kTraffics; ++i) {
      other.bytes[i] += sign * static_cast<double>(setting.batch) * bytes[i];
    }
    const GpuTime form = ordered_time(*this, other, setting, kind.is_measured).time;
    return joined_time(gpu * form.total() / fitted, host, hosts.overlap) / step;
  };
  const double host_spread = evidence_.host_launch_s ? 0 : coefficients_.host_spread;
  const double host_deviation = host_spread * host_share;
  // How far the interval's ends lie from the step, as logarithms: a faster host leaves the GPU's time.
  const double host_width = std::exp(kNormal80 * host_spread);
  const double below = combined_deviation(
      {kNormal80 * own, std::log(step / joined_time(gpu, host / host_width, hosts.overlap)),
       std::log(in_form(terms.spared, terms.spared_weights, -1))});
  const double above = combined_deviation(
      {kNormal80 * own, std::log(joined_time(gpu, host * host_width, hosts.overlap) / step),
       std::log(in_form(terms.added, 0, 1))});
  return {.step_ns = step * kNanoseconds,
          .interval80_ns = {.low = step * std::exp(-below) * kNanoseconds,
                            .high = step * std::exp(above) * kNanoseconds},
          .deviation = combined_deviation({own, host_deviation}),
          .host_deviation = host_deviation,
          .ratio_deviation = std::sqrt(ratio_variance(spread, own)),
          .batch_deviation = between_batches_deviation(*this, terms) / std::numbers::sqrt2,
          .gpu_ns = gpu * kNanoseconds,
          .host_ns = host * kNanoseconds,
          .products_ns = time.products * kNanoseconds,
          .memory_ns = time.memory * kNanoseconds,
          .tiles_ns = time.tiles * kNanoseconds,
          .launches_ns = time.launches * kNanoseconds,
          .caveats = caveats_of(*this, terms, setting, kind, host_share)};
}

}  // namespace bench
