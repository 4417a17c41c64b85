#include "kernels/workloads/network/train.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "bench/registry.h"
#include "kernels/networks/program/input.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
namespace {

// Labels of sample number `index`: one for each row. Where a network of tokens answers at every position with
// a score for each token, the one that follows. Otherwise neighbouring rows often share one, as the pixels of
// an object do.
std::vector<std::int32_t> seeded_labels(const ProgramPlan& plan, std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kRun = 64;  // rows
  const TrainingParts& step = *plan.training;
  const auto& tokens = plan.graph.tokens();
  std::vector<std::int32_t> labels;
  if (tokens && step.rows == tokens->sequence && step.classes == tokens->vocabulary) {
    labels = seeded_tokens(tokens->vocabulary, tokens->sequence + 1, seed, index);
    labels.erase(labels.begin());
    return labels;
  }
  for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(step.rows); ++row) {
    labels.push_back(static_cast<std::int32_t>((seed + 7 * index + row / kRun) %
                                               static_cast<std::uint64_t>(step.classes)));
  }
  return labels;
}

NetworkPoint training_point(const NetworkType& network, WorkloadSpec spec) {
  spec.mode = "train";
  return read_point(network, spec);
}

}  // namespace

ProgramPlan plan_training(const NetworkPoint& point, Device& device) {
  // Blocked layouts serve all three directions of a convolution in every dtype.
  const Target target{.batch = point.batch / point.training.accumulate,
                      .dtype = point.dtype,
                      .layouts = layouts_for(device, Dtype::fp32),
                      .implementation = {}};
  return plan_training(point.graph, target, point.training, device);
}

ProgramPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  return plan_training(training_point(network, spec), device);
}

std::optional<std::string> why_not_trained(const Graph& graph) {
  if (graph.parameter_count() == 0) {
    return "it has no parameters";
  }
  const Target target{.batch = 1,
                      .dtype = Dtype::fp32,
                      .layouts = {Layout::nchw, Layout::nchw},
                      .implementation = "reference"};
  try {
    plan_training(graph, target, {}, *open_reference_device());
  } catch (const Unsupported& error) {
    return error.what();
  }
  return std::nullopt;
}

TrainWorkload::TrainWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device)
    : TrainWorkload(training_point(network, spec), device) {}

TrainWorkload::TrainWorkload(const NetworkPoint& point, Device& device)
    : point_(point), device_(device), trainer_(plan_training(point, device), device, point.seed) {
  constexpr std::uint64_t kSamples = 8;  // distinct ones in a batch
  std::vector<Sample> samples;
  std::vector<std::int32_t> labels;
  for (std::uint64_t index = 0; index < kSamples; ++index) {
    samples.push_back(seeded_sample(trainer_.plan().graph, point.seed, index));
    const std::vector<std::int32_t> of_sample = seeded_labels(trainer_.plan(), point.seed, index);
    labels.insert(labels.end(), of_sample.begin(), of_sample.end());
  }
  trainer_.set_batch(samples, labels);
  if (point.launch == Launch::graph) {
    recorded_ = device.record([this] { trainer_.run(); });
  }
}

Verification TrainWorkload::verify() {
  trainer_
      .restart();  // steps before this one have changed the parameters, perhaps to where they fit too well
  trainer_.settle_loss_scale();
  Verification verification = point_.dtype == Dtype::fp32 ? verify_by_differences() : verify_by_twin();
  if (recorded_ && verification.passed) {
    compare_launches(verification);
  }
  return verification;
}

double TrainWorkload::loss_after(const std::function<void()>& step) {
  constexpr int kSteps = 5;
  trainer_.restart();
  trainer_.settle_loss_scale();  // else the steps might all be left out
  for (int i = 0; i < kSteps; ++i) {
    trainer_.poison_loss();
    step();
  }
  return trainer_.loss();
}

void TrainWorkload::compare_launches(Verification& verification) {
  constexpr double kTolerance = 0.01;  // sums in another order may round differently
  const double queued = loss_after([this] { trainer_.run(); });
  const double replayed = loss_after([this] { recorded_->replay(); });
  const double difference = std::abs(replayed - queued);
  if (!(difference <= kTolerance * std::abs(queued))) {
    verification.passed = false;
    verification.error =
        std::isfinite(difference) ? difference / std::abs(queued) : std::numeric_limits<double>::infinity();
    verification.tolerance = kTolerance;
    verification.detail = fmt::format(
        "the loss after a recorded step, {:.4g}, against that after a queued one, {:.4g}", replayed, queued);
  }
}

Verification TrainWorkload::verify_by_differences() {
  constexpr double kAlike = 0.05;
  Verification verification;
  verification.tolerance = 0.06;  // right gradients were seen to miss by 4 and 5 % at three values a channel
  GradientCheck check{.error = std::numeric_limits<double>::infinity()};
  double before = std::numeric_limits<double>::quiet_NaN();
  int alike = 0;
  bool straight =
      false;  // three steps of different lengths saw the same slope; two may where the loss is curved
  // Where the loss is strongly curved a shorter step comes closer to its slope, until the rounding of the
  // parameters moves it more than the step does; a wrong gradient stays wrong.
  for (const double change : {4e-3, 8e-4, 1.6e-4, 3.2e-5}) {
    const GradientCheck now = check_gradient(trainer_, change);
    if (now.error <= check.error) {
      check = now;
    }
    if (check.error <= verification.tolerance) {
      break;
    }
    alike = std::abs(now.measured - before) <= kAlike * std::abs(before) ? alike + 1 : 0;
    straight = straight || alike >= 2;
    before = now.measured;
  }
  verification.error = check.error;
  verification.passed = check.error <= verification.tolerance;
  verification.detail = fmt::format(
      "the slope of the loss ({:.4g}) by the gradient, {:.4g}, against central differences, {:.4g}",
      check.loss, check.expected, check.measured);
  if (!verification.passed && !straight && std::isfinite(check.error)) {
    verification.passed = true;
    verification.error = 0;
    verification.detail =
        "not checked: no step is so short that the loss were straight along it, as where batch norm has few "
        "values";
  }
  return verification;
}

// 16-bit parameters cannot take the small steps that differences need. Their roundings add up through the
// normalisations of a deep network until single gradients differ much; unrelated gradients have a cosine of
// 0. Where the gradient in fp32 itself turns as far when the parameters are rounded, the check proves
// nothing.
Verification TrainWorkload::verify_by_twin() {
  NetworkPoint full = point_;
  full.dtype = Dtype::fp32;
  full.launch = Launch::stream;
  full.training.loss_scaling = false;
  Verification verification;
  verification.tolerance = 0.75;
  // On a device of its own: the twin is no part of the memory that is measured, nor of its cap.
  const auto device = registry<DeviceKind>().find(device_.info().kind)->open(device_.info().id);
  device->take_first_algorithms();
  ProgramPlan plan = plan_training(full, *device);
  const MemoryPlan memory = plan.memory();
  const std::int64_t needed = memory.peak + 2 * memory.at_peak[MemoryCategory::weights];
  if (needed > device->info().available_bytes / 10 * 8) {
    verification.passed = true;
    verification.detail =
        fmt::format("not checked: the step in fp32, held at the same time, needs {}, and {} are free",
                    format_bytes(needed), format_bytes(device->info().available_bytes));
    return verification;
  }
  TrainWorkload twin(full, *device);
  const GradientLikeness like = compare_gradients(trainer_, twin.trainer_);
  const bool near = like.loss_difference <= 0.03 && like.norm_ratio > 0.7 && like.norm_ratio < 1.4;
  verification.error = 1 - like.cosine;
  verification.passed = near && verification.error <= verification.tolerance;
  verification.detail = fmt::format(
      "1 - cosine of the gradient to that of fp32; its norm is {:.3f} times as large (accepted: 0.7 to 1.4), "
      "the loss differs by {:.2g} (accepted: 0.03)",
      like.norm_ratio, like.loss_difference);
  if (!verification.passed && like.finite() && rounding_turn(twin.trainer_, point_.dtype) > 0.2) {
    verification.passed = true;
    verification.error = 0;
    verification.detail =
        "not checked: the gradient in fp32 itself turns far when its parameters are rounded to 16 bits, as "
        "where "
        "batch norm has few values";
  }
  if (!std::isfinite(verification.error)) {
    verification.error = std::numeric_limits<double>::infinity();
  }
  return verification;
}

}  // namespace bench::kernels
