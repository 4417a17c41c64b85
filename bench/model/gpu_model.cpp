#include "bench/model/gpu_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/statistics.h"
#include "bench/model/coefficients.h"
#include "bench/model/sustained.h"

namespace bench {
namespace {

constexpr double kNanoseconds = 1e9;
// Of the 24 GiB of an RTX 3090 that the driver keeps.
constexpr std::int64_t kReservedBytes = std::int64_t{308} << 20;
constexpr double kUnmeasuredGeneration = 2;  // times the card's deviation: a judgement
// torch.compile's mean error on the measured card, 14.3 %, as the deviation of a normal distribution.
constexpr double kCompiledRest = 0.16;
// A network without its norms takes up to a third less: the time is put between the two.
constexpr double kNormsShare = 1.0 / 3;
// Of a step's FLOPs from where a network is one of attention, and of its bytes from where it is a depthwise
// one.
constexpr double kAttentionShare = 0.5;
constexpr double kDepthwiseShare = 0.1;
// Of a network's deviation, where it was measured on the card at another batch: a judgement.
constexpr double kBetweenBatches = 0.5;
// Of what does not grow with the batch: the rest is the driver's context, a judgement.
constexpr double kLentToWorkspace = 0.5;
// The driver's context and kernels, by driver and framework: what nvidia-smi shows beyond PyTorch's own.
constexpr double kLeastContext = 0.5 * (1 << 30);
constexpr double kMostContext = 1.3 * (1 << 30);
// Times the slack's interval above its middle, where training with autocast was not asked: a judgement.
constexpr double kUnmeasuredMemory = 2;
// Sequences that vary in length fragment what the allocator reserves: by 1.2 to 2 in a simulation of it.
constexpr double kReservedForLengths = 1.2;
constexpr double kVisibleHostShare = 0.2;  // of the step, from where the unknown host is worth a caveat

constexpr std::array<std::pair<Framework, std::string_view>, 3> kFrameworks{
    {{Framework::pytorch, "pytorch"},
     {Framework::pytorch_compiled, "pytorch-compiled"},
     {Framework::bench, "bench"}}};
constexpr std::array<std::pair<AttentionForm, std::string_view>, 2> kAttentionForms{
    {{AttentionForm::fused, "fused"}, {AttentionForm::eager, "eager"}}};

// Whose units compute the products; nullopt: the fp32 cores.
std::optional<Dtype> tensor_dtype(const Gpu& gpu, Dtype dtype) {
  return dtype != Dtype::fp32 && gpu.flops_per_s.contains(dtype) ? std::optional(dtype) : std::nullopt;
}

bool is_16_bit(Dtype dtype) {
  return dtype == Dtype::fp16 || dtype == Dtype::bf16;
}

const CoefficientSet& set_of(const ModelCoefficients& coefficients, bool on_tensor_cores) {
  return on_tensor_cores ? coefficients.bits16 : coefficients.fp32;
}

// HBM since Volta and GDDR6X reach a larger share of the data sheet's bandwidth than other memories.
double reached_bandwidth(const CoefficientSet& set, const Gpu& gpu) {
  constexpr int kVolta = 70;
  if (gpu.memory_kind.starts_with("hbm") && gpu.compute_capability >= kVolta) {
    return set.bandwidth_hbm;
  }
  const bool is_gddr6x = gpu.memory_kind == "gddr6x" || gpu.memory_kind == "gddr7";
  return is_gddr6x ? set.bandwidth_gddr6x : set.bandwidth_other;
}

// per_sample · batch + per_step.
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

// Seconds.
struct GpuTime {
  double products = 0;
  double memory = 0;
  double tiles = 0;
  double launches = 0;
  double power_share = 0;  // how far the time's logarithm moves with that of what power allows

  double total() const { return products + memory + tiles + launches; }
  void scale(double factor) {
    for (double* const part : {&products, &memory, &tiles, &launches}) {
      *part *= factor;
    }
  }
};

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

// Its memory is the host's too: no such device was measured.
bool shares_memory(const Gpu& gpu) {
  return !gpu.bus && (gpu.memory_kind.starts_with("lpddr") || gpu.memory_kind.starts_with("ddr"));
}

bool is_measured_generation(const GpuModel& model, Dtype dtype) {
  const Gpu& gpu = model.gpu();
  return !shares_memory(gpu) && set_of(model.coefficients(), tensor_dtype(gpu, dtype).has_value())
                                    .measured_capability(gpu.compute_capability);
}

// What the network does most, by its forward products and its traffic.
NetworkKind kind_of(const StepTerms& work) {
  const auto flops = [&](ProductClass product) { return work.flops[static_cast<std::size_t>(product)]; };
  const double attention =
      flops(ProductClass::linear) + flops(ProductClass::batched) + flops(ProductClass::attention);
  const auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  if (attention > kAttentionShare * sum(work.flops)) {
    return NetworkKind::attention;
  }
  const double depthwise = work.bytes[static_cast<std::size_t>(Traffic::depthwise)];
  return depthwise > kDepthwiseShare * sum(work.bytes) ? NetworkKind::depthwise : NetworkKind::convolutions;
}

NumberKind numbers_of(const Gpu& gpu, const StepSetting& setting) {
  return !tensor_dtype(gpu, setting.dtype) ? NumberKind::fp32
         : setting.dtype == Dtype::tf32    ? NumberKind::tf32
         : setting.cast_whole              ? NumberKind::cast_whole
                                           : NumberKind::autocast;
}

// Steps of a kind, compared with what was measured.
struct KindEvidence {
  NumberKind numbers = NumberKind::fp32;
  NetworkKind network = NetworkKind::convolutions;
  bool is_measured = false;
  double variance = 0;  // of the logarithm, that the nearest kind measured leaves
};

// Few chips tell badly how chips differ: Student's t at 0.9 over the normal's. At least two degrees of
// freedom, for other kinds tell something of it.
double few_chips_variance(double card, std::size_t chips) {
  constexpr std::array<double, 5> kStudent{1.47, 1.28, 1.20, 1.15, 1.12};  // from three chips on
  constexpr std::size_t kFirst = 3;
  const double factor = kStudent[std::min(std::max(chips, kFirst) - kFirst, kStudent.size() - 1)];
  return card * card * (factor * factor - 1);
}

KindEvidence kind_evidence(const GpuModel& model, const StepTerms& work, const StepSetting& setting) {
  const ModelCoefficients& coefficients = model.coefficients();
  const UnmeasuredSpread& unmeasured = coefficients.unmeasured;
  KindEvidence evidence{.numbers = numbers_of(model.gpu(), setting),
                        .network = kind_of(work),
                        .is_measured = false,
                        .variance = std::numeric_limits<double>::infinity()};
  for (const MeasuredKind& kind : coefficients.kinds) {
    const auto square = [](double deviation, bool differs) { return differs ? deviation * deviation : 0; };
    const double differs = square(unmeasured.numbers, kind.numbers != evidence.numbers) +
                           square(unmeasured.mode, kind.train != setting.train) +
                           square(unmeasured.network, kind.network != evidence.network);
    evidence.is_measured = evidence.is_measured || differs == 0;
    const bool has_chip = std::ranges::find(kind.chips, model.gpu().chip) != kind.chips.end();
    evidence.variance =
        std::min(evidence.variance,
                 differs + (has_chip ? 0 : few_chips_variance(coefficients.image.card, kind.chips.size())));
  }
  if (is_16_bit(setting.dtype) && evidence.numbers == NumberKind::fp32) {
    evidence.variance += unmeasured.numbers * unmeasured.numbers;
  }
  return evidence;
}

// A step's GPU time where the fit alone does not tell it.
struct OrderedTime {
  GpuTime time;
  double variance = 0;  // of the logarithm, in addition
};

// fp32 is never faster than tf32. Where no tf32 step of the kind was measured, tf32 lies between the
// coefficients of 16 bits and of fp32, and the interval spans both.
OrderedTime ordered_time(const GpuModel& model, const StepTerms& work, const StepSetting& setting,
                         const KindEvidence& kind) {
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
  } else if (setting.dtype == Dtype::tf32 && !kind.is_measured) {
    const double ratio = std::max(1.0, in(Dtype::fp32) / total);
    ordered.time.scale(std::sqrt(ratio));
    ordered.variance = std::pow(std::log(ratio) / 2 / kNormal80, 2);
  }
  return ordered;
}

double joined(double gpu, double host, double overlap) {
  const double longer = std::max(gpu, host);  // so that no power underflows
  return longer > 0 ? longer * std::pow(std::pow(gpu / longer, overlap) + std::pow(host / longer, overlap),
                                        1 / overlap)
                    : 0;
}

// The variance of a step's logarithm that the card and the network leave, before the scale. `further`: of a
// card without a measurement of its own.
double own_variance(const GpuModel& model, const NetworkTerms& terms, bool measured_generation,
                    double further) {
  const ModelCoefficients& coefficients = model.coefficients();
  const ModelSpread& spread = terms.is_language ? coefficients.language : coefficients.image;
  const bool compiled = model.framework() == Framework::pytorch_compiled;
  const auto& chips = coefficients.compiled.chips;
  const bool measured_compiled = std::ranges::find(chips, model.gpu().chip) != chips.end();
  const bool unmeasured = !measured_generation || (compiled && !measured_compiled);
  const double card = spread.card * (unmeasured ? kUnmeasuredGeneration : 1);
  const double rest = (compiled ? std::max(spread.rest, kCompiledRest) : spread.rest) + terms.unknown_share;
  switch (model.evidence().reference) {
    case GpuEvidence::Reference::none:
      break;
    case GpuEvidence::Reference::same_network:
      return kBetweenBatches * rest * kBetweenBatches * rest;
    case GpuEvidence::Reference::same_card:  // the reference is a network with a rest of its own
      return rest * rest + spread.rest * spread.rest;
    case GpuEvidence::Reference::other_card:
      return card * card + rest * rest + further + spread.card * spread.card + spread.rest * spread.rest;
  }
  return card * card + rest * rest + further;
}

std::string in_words(NumberKind numbers) {
  switch (numbers) {
    case NumberKind::fp32:
      return "fp32";
    case NumberKind::tf32:
      return "tf32";
    case NumberKind::autocast:
      return "16 bits by autocast";
    case NumberKind::cast_whole:
      break;
  }
  return "16 bits, cast whole";
}

std::string in_words(NetworkKind network) {
  return network == NetworkKind::attention   ? "attention"
         : network == NetworkKind::depthwise ? "depthwise convolutions"
                                             : "convolutions";
}

std::vector<std::string> caveats_of(const GpuModel& model, const NetworkTerms& terms,
                                    const StepSetting& setting, const KindEvidence& kind, double host_share) {
  std::vector<std::string> caveats;
  const Gpu& gpu = model.gpu();
  constexpr int kTen = 10;
  const bool tensor = tensor_dtype(gpu, setting.dtype).has_value();
  if (shares_memory(gpu)) {
    caveats.emplace_back(
        "its memory is the host's too: less is free, the host's copies take part of its bandwidth, and no "
        "network was measured on such a device");
  } else if (!is_measured_generation(model, setting.dtype)) {
    caveats.push_back(fmt::format("no network was measured in {} on a card of compute capability {}.{}",
                                  tensor ? "16 bits" : "fp32", gpu.compute_capability / kTen,
                                  gpu.compute_capability % kTen));
  }
  constexpr int kMaxwell = 50;
  if (gpu.compute_capability < kMaxwell) {
    caveats.emplace_back("CUDA 12 and later do not run on it, nor does PyTorch built with them");
  }
  if (!kind.is_measured && model.evidence().reference == GpuEvidence::Reference::none) {
    caveats.push_back(fmt::format("no {} of networks of {} was measured in {}",
                                  setting.train ? "training" : "inference", in_words(kind.network),
                                  in_words(kind.numbers)));
  }
  if (model.framework() == Framework::pytorch_compiled) {
    caveats.emplace_back("torch.compile was measured on one card; the host's time is not counted");
  }
  if (is_16_bit(setting.dtype) && !tensor_dtype(gpu, setting.dtype)) {
    caveats.emplace_back("no 16-bit step was measured on a card without tensor cores");
  }
  if (setting.cast_whole) {
    caveats.emplace_back(
        "half was measured at batch 12 with PyTorch of 2020: its gain over fp16 is not known");
  }
  if (setting.dtype == Dtype::bf16) {
    caveats.emplace_back("bf16 was not measured; it is taken for fp16");
  }
  if (setting.dtype == Dtype::tf32 && !kind.is_measured) {
    caveats.emplace_back("tf32 is put between the coefficients of fp16 and of fp32");
  } else if (setting.dtype == Dtype::tf32) {
    caveats.emplace_back("tf32 takes the coefficients of fp16, and errs by 15 % on the one card measured");
  }
  if (setting.channels_last && !tensor_dtype(gpu, setting.dtype)) {
    caveats.emplace_back("fp32 channels-last was not measured");
  }
  if (terms.is_language) {
    caveats.emplace_back("few language models were measured");
  }
  if (terms.may_lack_norms) {
    caveats.emplace_back(
        "the file has biased convolutions and no norms: PyTorch with the batch norms that its exporter may "
        "have "
        "folded takes up to a third longer, and the time is put between");
  }
  if (terms.unknown_share > 0) {
    caveats.push_back(
        fmt::format("{:.1f} % of the bytes are moved by operations that the model has no class for: {}",
                    100 * terms.unknown_share, fmt::join(terms.unknown, ", ")));
  }
  if (!model.evidence().host_launch_s && host_share >= kVisibleHostShare) {
    const double launch_us = 1e6 * set_of(model.coefficients(), tensor).host_launch_s;
    const double width = std::exp(kNormal80 * model.coefficients().host_spread);
    const auto in_tens = [](double us) { return 10 * std::lround(us / 10); };
    caveats.push_back(
        fmt::format("the host limits the step, and its time a launch is not known: {} to {} µs are counted",
                    in_tens(launch_us / width), in_tens(launch_us * width)));
  }
  return caveats;
}

// Half of what two cards' ratio varies by beyond the errors that they share. The pairs that ratio_half_width
// was fitted to are of cards with no more than the spread's deviation.
double ratio_variance(const ModelSpread& spread, double own) {
  const double counted = spread.scale * combined_deviation({spread.card, spread.rest});
  return std::pow(spread.ratio_half_width / kNormal80, 2) / 2 + std::max(0.0, own * own - counted * counted);
}

// Bytes that one more sample takes.
double sample_bytes(const ModelCoefficients& coefficients, const NetworkTerms& terms) {
  return coefficients.slack * terms.peak_bytes_per_sample;
}

// Times the tensors: 80 % of networks.
Interval slack80(const ModelCoefficients& coefficients, const NetworkTerms& terms,
                 const StepSetting& setting) {
  const Interval& known = coefficients.slack80;
  const bool is_measured =
      setting.train && is_16_bit(setting.dtype) && !setting.cast_whole && !terms.is_language;
  const double middle = std::sqrt(known.low * known.high);
  const double high = middle * std::pow(known.high / middle, is_measured ? 1 : kUnmeasuredMemory);
  return {.low = known.low, .high = std::max(coefficients.slack, high)};
}

// Around a likely total, of which `held` bytes grow with the batch. Forms of code and the allocator's reserve
// are not known at once, so that they add up; the slack and the context err each for itself.
Interval peak80(const ModelCoefficients& coefficients, const NetworkTerms& terms, const StepSetting& setting,
                double total, double held) {
  const Interval slack = slack80(coefficients, terms, setting);
  const double reserved = terms.reads_tokens ? kReservedForLengths : 1;
  const auto apart = [&](double form, double of_slack, double context) {
    const double tensors = held * form;
    return total - held + tensors +
           std::copysign(combined_deviation({tensors * (of_slack / coefficients.slack - 1),
                                             context - coefficients.context_bytes}),
                         context - coefficients.context_bytes);
  };
  return {.low = apart(terms.saving.low, slack.low, kLeastContext),
          .high = apart(terms.saving.high * reserved, slack.high, kMostContext)};
}

// Bytes that do not grow with the batch.
MemoryByCategory fixed_memory(const ModelCoefficients& coefficients, const NetworkTerms& terms,
                              const StepSetting& setting) {
  const double width = setting.cast_whole ? 2 : 4;
  const double copies = is_16_bit(setting.dtype) && !setting.cast_whole ? 2 : 0;  // autocast's, of weights
  const auto bytes = [&](double per_parameter) { return std::llround(terms.parameters * per_parameter); };
  MemoryByCategory memory;
  memory[MemoryCategory::other] = std::llround(coefficients.context_bytes);
  memory[MemoryCategory::weights] = bytes(width + copies);
  if (setting.train) {
    memory[MemoryCategory::gradients] = bytes(width);
    memory[MemoryCategory::optimizer] = bytes(width * static_cast<double>(setting.update));
  }
  return memory;
}

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
  OrderedTime ordered = ordered_time(*this, work, setting, kind);
  GpuTime& time = ordered.time;
  // A model cast whole was measured with convolutions of 2020.
  time.scale(setting.cast_whole && is_16_bit(setting.dtype) && kind.network != NetworkKind::attention
                 ? set.cast_whole
                 : 1);
  const double norms = terms.may_lack_norms ? std::sqrt(1 + kNormsShare) : 1;
  time.scale(norms);
  const double gpu = time.total();
  const double host = framework_ == Framework::pytorch
                          ? work.launches * evidence_.host_launch_s.value_or(set.host_launch_s) *
                                (setting.train ? set.host_train : 1) * norms
                          : 0;
  const double step = joined(gpu, host, set.overlap);
  if (!(step > 0)) {
    return {};
  }
  const double host_share = std::pow(host / step, set.overlap);
  const double power = coefficients_.power_spread * time.power_share * (1 - host_share);
  const double further = kind.variance + ordered.variance + power * power;
  const double lacking = std::log(norms) / kNormal80;
  const double own = combined_deviation(
      {spread.scale *
           std::sqrt(own_variance(*this, terms, is_measured_generation(*this, setting.dtype), further)),
       lacking});
  const double host_spread = evidence_.host_launch_s ? 0 : coefficients_.host_spread;
  const double host_deviation = host_spread * host_share;
  // How far the interval's ends lie from the step, as logarithms: a faster host leaves the GPU's time.
  const double host_width = std::exp(kNormal80 * host_spread);
  const double below =
      combined_deviation({kNormal80 * own, std::log(step / joined(gpu, host / host_width, set.overlap))});
  const double above =
      combined_deviation({kNormal80 * own, std::log(joined(gpu, host * host_width, set.overlap) / step)});
  return {.step_ns = step * kNanoseconds,
          .interval80_ns = {.low = step * std::exp(-below) * kNanoseconds,
                            .high = step * std::exp(above) * kNanoseconds},
          .deviation = combined_deviation({own, host_deviation}),
          .host_deviation = host_deviation,
          .ratio_deviation = std::sqrt(ratio_variance(spread, own)),
          .gpu_ns = gpu * kNanoseconds,
          .host_ns = host * kNanoseconds,
          .products_ns = time.products * kNanoseconds,
          .memory_ns = time.memory * kNanoseconds,
          .tiles_ns = time.tiles * kNanoseconds,
          .launches_ns = time.launches * kNanoseconds,
          .host_share = host_share,
          .caveats = caveats_of(*this, terms, setting, kind, host_share)};
}

PredictedMemory GpuModel::memory(const NetworkTerms& terms, const StepSetting& setting) const {
  constexpr double kMost = 4e18;  // below 2^62
  PredictedMemory memory;
  memory.at_peak = fixed_memory(coefficients_, terms, setting);
  const auto samples = static_cast<double>(setting.batch);
  const double held = std::min(samples * sample_bytes(coefficients_, terms), kMost);
  const double input = std::min(samples * terms.input_bytes_per_sample, held);
  memory.at_peak[MemoryCategory::input] = std::llround(input);
  memory.at_peak[MemoryCategory::activations] = std::llround(held - input);
  memory.peak = memory.at_peak.total();
  memory.peak80 = peak80(coefficients_, terms, setting, static_cast<double>(memory.peak), held);
  return memory;
}

PredictedMemory GpuModel::memory(const NetworkTerms& terms, const StepSetting& setting,
                                 std::int64_t workspace_bytes) const {
  PredictedMemory memory = this->memory(terms, setting);
  std::int64_t& activations = memory.at_peak[MemoryCategory::activations];
  std::int64_t& other = memory.at_peak[MemoryCategory::other];
  const auto held = static_cast<double>(activations + memory.at_peak[MemoryCategory::input]);
  const std::int64_t slack = std::llround(held * (1 - 1 / std::max(coefficients_.slack, 1.0)));
  const std::int64_t lent = std::llround(kLentToWorkspace * static_cast<double>(other));
  const std::int64_t of_slack = std::min({workspace_bytes, slack, activations});
  const std::int64_t of_other = std::min(workspace_bytes - of_slack, lent);
  activations -= of_slack;
  other -= of_other;
  memory.at_peak[MemoryCategory::workspace] = of_slack + of_other;
  return memory;
}

std::int64_t GpuModel::usable_bytes() const {
  return std::max<std::int64_t>(gpu_.memory_bytes - kReservedBytes, 0);
}

LargestBatch GpuModel::largest_batch(const NetworkTerms& terms, const StepSetting& setting) const {
  const auto usable = static_cast<double>(usable_bytes());
  const auto largest = [&](const NetworkTerms& of, double Interval::*end) {
    constexpr std::int64_t kMost = 1LL << 40;  // where a sample takes nothing
    StepSetting at = setting;
    std::int64_t fits = 0;
    for (std::int64_t step = kMost; step > 0; step /= 2) {
      at.batch = fits + step;
      fits = at.batch <= kMost && memory(of, at).peak80.*end <= usable ? at.batch : fits;
    }
    return fits;
  };
  NetworkTerms least = terms;
  least.saving.low = std::min(terms.saving.low, terms.least_saving);
  return {.safe = largest(terms, &Interval::high),
          .bound = largest(terms, &Interval::low),
          .most = largest(least, &Interval::low)};
}

double gain_half_width80(const PredictedWidth& a, const PredictedWidth& b) {
  const auto own_variance = [](const PredictedWidth& of) {
    return std::max(0.0, std::pow(of.half_width80, 2) - std::pow(kNormal80 * of.host_deviation, 2));
  };
  const double host = kNormal80 * (a.host_deviation - b.host_deviation);
  return std::sqrt(own_variance(a) + own_variance(b) + host * host);
}

ThroughputRatio throughput_ratio(const PredictedStep& a, const PredictedStep& b,
                                 const ModelCoefficients& coefficients, bool is_language) {
  const ModelSpread& spread = is_language ? coefficients.language : coefficients.image;
  double variance = 0;
  for (const PredictedStep* const step : {&a, &b}) {
    const double own = step->deviation * step->deviation - step->host_deviation * step->host_deviation;
    variance += ratio_variance(spread, std::sqrt(std::max(0.0, own)));
  }
  // The host is one: where it takes more of one card's step, its error stays in the ratio.
  variance += std::pow(a.host_deviation - b.host_deviation, 2);
  const double value = b.step_ns / a.step_ns;
  const double width = std::exp(kNormal80 * std::sqrt(variance));
  return {.value = value, .interval80 = {.low = value / width, .high = value * width}};
}

}  // namespace bench
