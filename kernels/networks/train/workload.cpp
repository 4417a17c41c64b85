#include "kernels/networks/train/workload.h"

#include <array>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "kernels/networks/parameters.h"
#include "kernels/networks/train/gradient_check.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kMostMicroBatches = 1024;

std::string text_of(const WorkloadSpec& spec, const std::string& name, const char* otherwise) {
  const auto at = spec.options.find(name);
  return at == spec.options.end() ? otherwise : at->second;
}

Optimizer::Kind optimizer_of(const std::string& text) {
  constexpr std::array kinds{std::pair{"sgd", Optimizer::Kind::sgd},
                             std::pair{"momentum", Optimizer::Kind::momentum},
                             std::pair{"adam", Optimizer::Kind::adam}};
  for (const auto& [name, kind] : kinds) {
    if (text == name) {
      return kind;
    }
  }
  throw UsageError(fmt::format("--optimizer {}: accepted are sgd, momentum and adam", quote(text)));
}

}  // namespace

std::vector<WorkloadType::Option> training_options() {
  return {
      {"optimizer", "sgd", "in training: sgd, momentum or adam"},
      {"accumulate", "1", "in training: micro-batches a step; a divisor of the batch"},
      {"recompute", "no", "in training: yes keeps only values between blocks, and computes others again"}};
}

TrainOptions train_options(const WorkloadSpec& spec) {
  TrainOptions options;
  options.optimizer = optimizer_of(text_of(spec, "optimizer", "sgd"));
  options.accumulate =
      spec.options.contains("accumulate") ? whole_option(spec, "accumulate", 1, kMostMicroBatches) : 1;
  if (spec.batch % options.accumulate != 0) {
    throw UsageError(
        fmt::format("--accumulate {}: accepted are divisors of every batch, and {} is not one of {}",
                    options.accumulate, options.accumulate, spec.batch));
  }
  const std::string recompute = text_of(spec, "recompute", "no");
  if (recompute != "yes" && recompute != "no") {
    throw UsageError(fmt::format("--recompute {}: accepted are yes and no", quote(recompute)));
  }
  options.recompute = recompute == "yes";
  return options;
}

TrainingPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  const TrainOptions options = train_options(spec);
  // Blocked layouts serve all three directions of a convolution in every dtype.
  const Target target{.batch = spec.batch / options.accumulate,
                      .dtype = spec.dtype,
                      .layouts = layouts_for(device, Dtype::fp32),
                      .implementation = {}};
  return plan_training(build_network(network, spec), target, options, device);
}

TrainWorkload::TrainWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device)
    : spec_(spec), trainer_(plan_training(network, spec, device), device, spec.seed) {
  constexpr std::uint64_t kImages = 8;  // distinct ones in a batch
  std::vector<std::vector<float>> images;
  std::vector<std::int32_t> labels;
  for (std::uint64_t index = 0; index < kImages; ++index) {
    images.push_back(seeded_image(trainer_.plan().graph[0].shape, spec.seed, index));
    labels.push_back(static_cast<std::int32_t>((spec.seed + 7 * index) %
                                               static_cast<std::uint64_t>(trainer_.plan().step.classes)));
  }
  trainer_.set_batch(images, labels);
}

Verification TrainWorkload::verify() {
  const bool full = spec_.dtype == Dtype::fp32;
  const GradientCheck check = check_gradient(trainer_, full ? 0.01 : 0.1);
  Verification verification;
  verification.error = check.error;
  verification.tolerance = full ? 0.03 : 0.25;
  verification.passed = check.error <= verification.tolerance;
  verification.detail =
      fmt::format("the gradient (norm {:.4g}) against central differences of the loss ({:.4g}) along it",
                  check.norm, check.loss);
  return verification;
}

}  // namespace bench::kernels
