#include "bench/model/step_caveats.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/model/step_time.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr double kVisibleHostShare = 0.2;  // of the step, from where the unknown host is worth a caveat

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

}  // namespace

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
    caveats.push_back(fmt::format("compute capability {}.{} has no measured network in {}",
                                  gpu.compute_capability / kTen, gpu.compute_capability % kTen,
                                  tensor ? "16 bits" : "fp32"));
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
  if (!kind.only_on.empty() && model.evidence().reference == GpuEvidence::Reference::none) {
    caveats.push_back(fmt::format("measured on {} alone: {} of networks of {} in {}",
                                  fmt::join(kind.only_on, " and "), setting.train ? "training" : "inference",
                                  in_words(kind.network), in_words(kind.numbers)));
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
    caveats.emplace_back("no bf16 data: fp16 speeds are used");
  }
  if (setting.dtype == Dtype::fp32 && kind.network != NetworkKind::attention &&
      gpu.flops_per_s.contains(Dtype::tf32)) {
    caveats.emplace_back(
        "PyTorch convolves fp32 in TF32 unless torch.backends.cudnn.allow_tf32 is False: --dtype tf32 is its "
        "default");
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
  if (setting.train && terms.has_other_loss) {
    caveats.emplace_back(
        "the loss counts as cross entropy of each result: a detector's, which assigns boxes, may take more "
        "time "
        "and memory");
  }
  if (terms.norms_put_back) {
    caveats.emplace_back(
        "with the batch norms that the file's exporter folded into its convolutions, as PyTorch runs them");
  }
  if (terms.may_lack_norms) {
    caveats.emplace_back(
        fmt::format("the file has biased convolutions and no norms: PyTorch with the batch norms that its "
                    "exporter may have "
                    "folded takes up to a third longer, and the time is put between{}",
                    setting.train ? "; memory is that with the norms" : ""));
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
        fmt::format("small batches wait for the CPU: {} to {} µs a launch assumed [predict --host-launch]",
                    in_tens(launch_us / width), in_tens(launch_us * width)));
  }
  return caveats;
}

}  // namespace bench
