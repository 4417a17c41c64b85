#include "kernels/workloads/network/train.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/registry.h"
#include "kernels/networks/graph/drawn_once.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/second_device.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
namespace {

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
  ProgramPlan plan = plan_training(point.graph, target, point.training, device);
  if (point.edit_plan) {
    point.edit_plan(plan);
  }
  return plan;
}

ProgramPlan plan_training(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  return plan_training(training_point(network, spec), device);
}

std::optional<std::string> why_not_trained(const Graph& graph) {
  if (graph.parameter_count() == 0) {
    return "it has no parameters";
  }
  // A batch norm of single pixels has no gradient at batches 1 and 2.
  const Target target{.batch = 4,
                      .dtype = Dtype::fp32,
                      .layouts = {Layout::nchw, Layout::nchw},
                      .implementation = "reference"};
  try {
    record_training(graph, target, {}, *open_reference_device());
  } catch (const Unsupported& error) {
    return error.what();
  }
  return std::nullopt;
}

std::int64_t most_draws_kept(const Device& device) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;  // those of most networks
  return device.computes_on_host() ? 0 : kMost;
}

TrainWorkload::TrainWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device)
    : TrainWorkload(training_point(network, spec), std::make_shared<GradientReference>(), device) {}

TrainWorkload::TrainWorkload(const NetworkPoint& point, std::shared_ptr<GradientReference> reference,
                             Device& device)
    : SingleStep(plan_training(point, device), point, device),
      point_(point),
      reference_(std::move(reference)) {}

Verification TrainWorkload::verify() {
  const DrawnOnce draws(most_draws_kept(device_));
  Verification verification = verify_gradient();
  if (recorded_ && !verification.failed()) {
    compare_launches(verification);
  }
  return verification;
}

Verification TrainWorkload::verify_gradient() {
  Verification tensors = reference_->compare(point_, device_);
  if (tensors.failed() || tensors.not_checked == kLossIsNotFinite) {
    return tensors;
  }
  if (is_short_ && tensors.passed) {
    tensors.not_checked += "the gradient at the point's own size: the time budget has no room for it";
    return tensors;
  }
  runner_.restart();  // steps before this one have changed the parameters, perhaps to where they fit too well
  runner_.settle_loss_scale();
  Verification own = verify_at_own_size();
  if (own.failed()) {
    return own;
  }
  Verification both = tensors.passed ? tensors : own;
  both.passed = tensors.passed || own.passed;
  if (tensors.passed && own.passed) {
    both.detail += "; " + own.detail;
  }
  both.not_checked = tensors.not_checked;
  if (!own.not_checked.empty()) {
    both.not_checked += (both.not_checked.empty() ? "" : "; ") + own.not_checked;
  }
  return both;
}

// Two values are normalised to −1 and 1 whatever they are, unless they lie so near to each other that epsilon
// counts: there the loss jumps, and neither differences nor a gradient in fewer bits tell its slope.
Verification TrainWorkload::verify_at_own_size() {
  constexpr std::int64_t kFewest = 3;
  if (least_normalised(point_.graph, point_.batch / point_.training.accumulate) < kFewest) {
    return not_checked(
        "the gradient at the point's own size: batch norm has two values of each channel, between which the "
        "loss jumps");
  }
  return point_.dtype == Dtype::fp32 ? verify_by_differences() : verify_by_twin();
}

double TrainWorkload::loss_after(const std::function<void()>& step) {
  constexpr int kSteps = 5;
  runner_.restart();
  runner_.settle_loss_scale();  // else the steps might all be left out
  for (int i = 0; i < kSteps; ++i) {
    runner_.poison_loss();
    step();
  }
  return runner_.loss();
}

void TrainWorkload::compare_launches(Verification& verification) {
  constexpr double kTolerance = 0.01;  // sums in another order may round differently
  const double queued = loss_after([this] { runner_.run(); });
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
  const SlopeCheck check = check_slopes(runner_, point_.seed);
  if (check.outcome == SlopeCheck::Outcome::unsettled) {
    return not_checked(
        "the gradient at the point's own size: no step is so short that the loss were straight along it, as "
        "where batch norm has few values");
  }
  Verification verification;
  verification.error = check.error;
  verification.tolerance = kSlopeTolerance;
  verification.passed = check.outcome == SlopeCheck::Outcome::right;
  verification.detail = fmt::format(
      "the slope of the loss ({:.4g}) by the gradient, {:.4f} of the sum of its norms, against central "
      "differences, "
      "{:.4f}",
      check.loss, check.by_gradient, check.by_differences);
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
  const SecondDevice device(device_);
  ProgramPlan plan = plan_training(full, *device);
  const MemoryPlan memory = plan.memory();
  const std::int64_t needed = memory.peak + 2 * memory.at_peak[MemoryCategory::weights];
  if (const auto reason =
          no_room("the step in fp32, held at the same time,", needed, device.available_bytes())) {
    return not_checked("the gradient at the point's own size: " + *reason);
  }
  TrainWorkload twin(full, reference_, *device);
  runner_.run_gradients();
  twin.runner_.run_gradients();
  const GradientDifference difference = compare_gradients(runner_, twin.runner_);
  const TensorDifference& like = difference.whole;
  const bool near = difference.loss <= 0.03 && like.norm_ratio > 0.7 && like.norm_ratio < 1.4;
  Verification verification;
  verification.tolerance = 0.75;
  verification.error = 1 - like.cosine;
  verification.passed = near && verification.error <= verification.tolerance;
  verification.detail = fmt::format(
      "1 - cosine of the gradient to that of fp32; its norm is {:.3f} times as large (accepted: 0.7 to 1.4), "
      "the loss differs by {:.2g} (accepted: 0.03)",
      like.norm_ratio, difference.loss);
  const bool is_finite =
      std::isfinite(difference.loss) && std::isfinite(like.norm_ratio) && std::isfinite(like.cosine);
  if (!verification.passed && is_finite && rounding_turn(twin.runner_, point_.dtype) > 0.2) {
    return not_checked(
        "the gradient at the point's own size: that in fp32 itself turns far when its parameters "
        "are rounded to 16 bits, as where batch norm has few values");
  }
  if (!std::isfinite(verification.error)) {
    verification.error = std::numeric_limits<double>::infinity();
  }
  return verification;
}

}  // namespace bench::kernels
