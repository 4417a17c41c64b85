#include "kernels/workloads/network/gradient_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/registry.h"
#include "bench/text/units.h"
#include "kernels/workloads/network/second_device.h"
#include "kernels/workloads/network/train.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
namespace {

// Of a tensor of a gradient in fp32. Right ones differ by 1e-3 at most.
constexpr double kTolerance = 1e-2;
// Samples that are tried until the gradients agree: where a value lies so near to a rectifier's kink that it
// falls on either side of it, right gradients differ. That happens with few samples, a wrong gradient is
// wrong with all.
constexpr std::uint64_t kTries = 3;

// Multiply-adds of the reference, and what handling the parameters costs in such.
double cost(const Graph& graph, std::int64_t batch) {
  constexpr double kOfParameter = 30;
  return 3 * static_cast<double>(graph.macs() * batch) +
         kOfParameter * static_cast<double>(graph.parameter_count());
}

// Shifts every normalised channel by twice its scale: two deviations away from the kink of a rectifier at 0,
// few values lie so near to it that roundings move them across.
void move_from_kinks(Trainer& trainer) {
  const auto& parameters = trainer.plan().parameters;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const PlannedParameter& scale = parameters[index];
    const auto shift = std::ranges::find_if(parameters, [&](const PlannedParameter& other) {
      return other.layer == scale.layer && other.slot == Slot::shift;
    });
    if (scale.slot == Slot::scale && shift != parameters.end() &&
        trainer.plan().graph[scale.layer].is("batch_norm")) {
      std::vector<float> moved = trainer.parameter(index);
      for (float& value : moved) {
        value *= 2;
      }
      trainer.set_parameter(static_cast<std::size_t>(shift - parameters.begin()), moved);
    }
  }
}

// With the reference implementations alone, and nothing that saves memory.
Trainer reference_trainer(const NetworkPoint& point, Dtype dtype, Device& device) {
  return {plan_training(point.graph,
                        {.batch = point.batch / point.training.accumulate,
                         .dtype = dtype,
                         .layouts = {},
                         .implementation = "reference"},
                        {.accumulate = point.training.accumulate, .in_place = false}, device),
          device, point.seed};
}

Verification not_checked(std::string why) {
  Verification verification;
  verification.not_checked = std::move(why);
  return verification;
}

Verification compare_small(const NetworkPoint& point, Device& measured) {
  const SecondDevice device(measured);
  const auto host = open_reference_device();
  ProgramPlan plan = plan_training(point, *device);
  const std::int64_t needed = 3 * plan.memory().peak;
  if (needed > std::min(device.available_bytes(), host->info().available_bytes) / 10 * 8) {
    return not_checked(fmt::format("the gradient's tensors: the reference needs {}, and {} are free",
                                   format_bytes(needed), format_bytes(host->info().available_bytes)));
  }
  Trainer trainer(std::move(plan), *device, point.seed);
  Trainer expected = reference_trainer(point, Dtype::fp32, *host);
  move_from_kinks(trainer);
  move_from_kinks(expected);
  GradientTolerance tolerance{.error = kTolerance};
  const bool is_fp32 = point.dtype == Dtype::fp32;
  std::optional<Verification> best;
  for (std::uint64_t round = 0; round < kTries; ++round) {
    stop_if_interrupted("the reference gradient was computed");
    set_seeded_batch(trainer, point.seed, round);
    set_seeded_batch(expected, point.seed, round);
    expected.run_gradients();
    if (!std::isfinite(expected.loss())) {
      return not_checked(std::string(kLossIsNotFinite));
    }
    trainer.settle_loss_scale();
    trainer.run_gradients();
    if (!is_fp32 && tolerance.noise.empty()) {
      // Of bf16, which is more than that of fp16 and tf32.
      Trainer rounded = reference_trainer(point, Dtype::bf16, *host);
      move_from_kinks(rounded);
      set_seeded_batch(rounded, point.seed, round);
      rounded.run_gradients();
      for (const TensorDifference& tensor : compare_gradients(rounded, expected).tensors) {
        tolerance.noise.push_back(tensor.error);
      }
    }
    Verification now = judge(compare_gradients(trainer, expected), tolerance);
    if (!best || now.error < best->error) {
      best = std::move(now);
    }
    if (!best->failed()) {
      break;
    }
  }
  return *best;
}

}  // namespace

std::int64_t least_normalised(const Graph& graph, std::int64_t batch) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Node& node : graph.nodes()) {
    if (node.is("batch_norm")) {
      least = std::min(least, batch * node.shape.height() * node.shape.width());
    }
  }
  return least;
}

std::optional<NetworkPoint> small_point(const NetworkPoint& point) {
  constexpr double kMost = 5e9;  // about as many nanoseconds on a core
  const std::int64_t wanted = point.dtype == Dtype::fp32 ? 4 : 16;
  const double own = cost(point.graph, point.batch) / 4;
  std::optional<NetworkPoint> best;
  double least = std::max(kMost, own);
  for (const Graph& graph : point.small_graphs ? point.small_graphs() : std::vector{point.graph}) {
    for (const std::int64_t batch : {2, 4, 8, 16}) {
      if (least_normalised(graph, batch) >= wanted && cost(graph, batch) < least) {
        const std::int64_t micro_batches = std::min<std::int64_t>(point.training.accumulate, 2);
        least = cost(graph, batch);
        best = point;
        best->graph = graph;
        best->batch = batch * micro_batches;
        best->launch = Launch::stream;
        best->training.optimizer = Optimizer::Kind::sgd;
        best->training.accumulate = micro_batches;
      }
    }
  }
  return best;
}

Verification judge(const GradientDifference& difference, const GradientTolerance& tolerance) {
  constexpr double kTooNoisy = 0.3;  // a tensor of zeros has an error of 1
  const TensorDifference* worst = nullptr;
  double worst_accepted = 0;
  std::size_t compared = 0;
  for (std::size_t index = 0; index < difference.tensors.size(); ++index) {
    const TensorDifference& tensor = difference.tensors[index];
    const double noise = tolerance.noise.empty() ? 0 : tolerance.noise.at(index);
    const double accepted = tolerance.error + 3 * noise;
    if (noise > kTooNoisy) {
      continue;
    }
    ++compared;
    if (worst == nullptr || !(tensor.error / accepted <= worst->error / worst_accepted)) {
      worst = &tensor;
      worst_accepted = accepted;
      if (!std::isfinite(tensor.error)) {
        break;
      }
    }
  }
  if (worst == nullptr ||
      4 * compared < difference.tensors.size()) {  // a shift's gradient is often all rounding
    return not_checked(
        fmt::format("the gradient's tensors: rounding to 16 bits changes {} of {} by more than {:.0f} %",
                    difference.tensors.size() - compared, difference.tensors.size(), 100 * kTooNoisy));
  }
  Verification verification;
  verification.error = std::isfinite(worst->error) ? worst->error : std::numeric_limits<double>::infinity();
  verification.tolerance = worst_accepted;
  verification.passed = verification.error <= worst_accepted;
  verification.detail = fmt::format(
      "{} of {} gradient tensors against the reference's at a small size; the {}: {}", compared,
      difference.tensors.size(), verification.passed ? "nearest to its bound" : "worst", worst->name);
  if (!verification.passed) {
    verification.detail += fmt::format(" has {:.4g} times the reference's norm", worst->norm_ratio);
  }
  return verification;
}

Verification GradientReference::compare(const NetworkPoint& point, Device& device) {
  const Question question{device.info().id, point.dtype, point.training.accumulate > 1,
                          point.training.recompute, point.training.in_place};
  const std::scoped_lock lock(mutex_);
  if (const auto known = known_.find(question); known != known_.end()) {
    return known->second;
  }
  const auto small = small_point(point);
  if (!small) {  // perhaps not too much for a larger point
    return not_checked(
        "the gradient's tensors: the reference takes longer than a quarter of a step's operations");
  }
  try {
    return known_[question] = compare_small(*small, device);
  } catch (const Unsupported& error) {
    return known_[question] = not_checked(fmt::format("the gradient's tensors: {}", error.what()));
  } catch (const OutOfMemory& error) {
    return not_checked(fmt::format("the gradient's tensors: {}", error.what()));
  }
}

}  // namespace bench::kernels
