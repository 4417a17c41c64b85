// What cuDNN plans for a network on a card that is not here.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/clock.h"
#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/model/step_setting.h"
#include "bench/modelled.h"
#include "bench/registry.h"
#include "bench/text/units.h"
#include "kernels/backends/cudnn/absent_card.h"
#include "kernels/backends/cudnn/eager_choice.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/networks/eager/convolutions.h"
#include "kernels/networks/passes/unfold_norms.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

// A convolution takes some milliseconds, a sweep's default points about a thousand of them.
constexpr double kMostPlanningNs = 10e9;

// All of a sweep's plans of this program's own engine.
constexpr double kMostEngineNs = 60e9;

// Of all planning for a card.
struct PlanningTime {
  explicit PlanningTime(const cuda::Card& /*card*/) {}
  double spent_ns = 0;
};

PlannedWorkspace not_planned(std::string why) {
  PlannedWorkspace planned;
  planned.why_not = std::move(why);
  return planned;
}

// The largest of the parts in which PyTorch cuts tensors of 2^31 elements and more.
Conv2d first_part(const Conv2d& convolution) {
  return cudnn::of_samples(convolution, std::max<std::int64_t>(1, cudnn::parts_of(convolution).each));
}

PlannedWorkspace planned_workspace(const ConfiguredNetworkPoint& network, const StepSetting& setting,
                                   Layout layout, cuda::Card& card) {
  PlanningTime& time = *card.keep<PlanningTime>();
  PlannedWorkspace planned{.bytes = 0, .largest = {}, .by = cudnn::planned_by(card), .why_not = {}};
  const std::vector<Conv2d> convolutions = eager_convolutions(
      network.point().graph, network.eager_setting(form_of(setting)), setting.batch, layout);
  if (convolutions.empty()) {
    return not_planned("the network has no convolution that cuDNN computes");
  }
  bool any = false;
  for (const Conv2d& whole : convolutions) {
    if (interrupted()) {
      return not_planned("the run was interrupted");
    }
    if (time.spent_ns > kMostPlanningNs) {
      return not_planned(fmt::format("planning took longer than {}", format_duration(kMostPlanningNs)));
    }
    const Conv2d convolution = first_part(whole);
    const auto started = steady_clock().now();
    const std::optional<std::int64_t> bytes = cudnn::eager_workspace(convolution, card);
    time.spent_ns += steady_clock().since_ns(started);
    any = any || bytes.has_value();
    if (bytes.value_or(0) > planned.bytes) {
      planned.bytes = *bytes;
      planned.largest = cudnn::described(convolution);
    }
  }
  return any ? planned : not_planned(fmt::format("{} lists no plan here", planned.by));
}

PlannedWorkspace eager_workspace(const ConfiguredWorkload& workload, const StepSetting& setting,
                                 Device& device) {
  const auto* const network = dynamic_cast<const ConfiguredNetworkPoint*>(&workload);
  if (network == nullptr) {
    return {};
  }
  try {
    cuda::Card& card = cuda::card_of(device);
    if (const auto reason = cudnn::cannot_plan(card)) {
      return not_planned(*reason);
    }
    const bool compiled =
        device.model() != nullptr && device.model()->framework() == Framework::pytorch_compiled;
    return planned_workspace(*network, setting,
                             setting.channels_last || compiled ? Layout::nhwc : Layout::nchw, card);
  } catch (const std::exception& failed) {  // whatever it is: the estimate stays
    return not_planned(failed.what());
  }
}

std::string planned_by(Device& device) {
  return cudnn::planned_by(cuda::card_of(device));
}

// As a card would train it: with the batch norms that a file's exporter may have folded.
MemoryPlan plan_for(const ConfiguredWorkload& workload, Device& device) {
  const auto* const network = dynamic_cast<const ConfiguredNetworkPoint*>(&workload);
  if (network == nullptr || !network->eager_setting({}).train || !network->point().is_file ||
      network->point().stage || folded_norms(network->point().graph) == FoldedNorms::none) {
    return workload.plan(device);
  }
  NetworkPoint unfolded = network->point();
  unfolded.graph = with_norms_unfolded(unfolded.graph);
  return plan_training(unfolded, device).memory();
}

MemoryPlan engine_plan(const ConfiguredWorkload& workload, Device& device) {
  cuda::Card& card = cuda::card_of(device);
  if (const auto reason = cudnn::cannot_plan(card)) {
    throw Unsupported(
        fmt::format("this program's own engine cannot be planned for {}: {}", device.info().name, *reason));
  }
  PlanningTime& time = *card.keep<PlanningTime>();
  if (time.spent_ns > kMostEngineNs) {
    throw Unsupported(
        fmt::format("planning took longer than {}; give fewer batches with --batch, or one --dtype",
                    format_duration(kMostEngineNs)));
  }
  const auto started = steady_clock().now();
  cudnn::AbsentCard absent(device.info(), card);
  if (const auto reason = workload.unsupported(absent)) {
    throw Unsupported(*reason);
  }
  MemoryPlan plan = plan_for(workload, absent);
  time.spent_ns += steady_clock().since_ns(started);
  return plan;
}

const Registration<LibraryPlanner> BENCH_REGISTERED{{.name = "cudnn",
                                                     .eager_workspace = eager_workspace,
                                                     .planned_by = planned_by,
                                                     .engine_plan = engine_plan}};

}  // namespace
}  // namespace bench::kernels
