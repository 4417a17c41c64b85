#include "kernels/networks/workload.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "kernels/device/cuda/tf32_override.h"
#include "kernels/networks/infer.h"
#include "kernels/networks/launch.h"
#include "kernels/networks/train/workload.h"

namespace bench::kernels {
namespace {

bool trains(const WorkloadSpec& spec) {
  return spec.mode == "train";
}

std::vector<WorkloadType::Option> options_of(const NetworkType& network) {
  std::vector<WorkloadType::Option> all = size_options(network);
  all.push_back(launch_option());
  for (WorkloadType::Option& option : training_options()) {
    all.push_back(std::move(option));
  }
  return all;
}

void check(const NetworkType& network, const WorkloadSpec& spec) {
  build_network(network, spec);
  launch_of(spec);
  if (trains(spec)) {
    train_options(spec);
    return;
  }
  for (const WorkloadType::Option& option : training_options()) {
    const auto given = spec.options.find(option.name);
    if (given != spec.options.end() && given->second != option.default_value) {
      throw UsageError(fmt::format("--{} {}: belongs to training; give --mode train with it", option.name,
                                   quote(given->second)));
    }
  }
}

// Bytes of all layers' results for the whole batch. Throws OutOfMemory where a step's bytes could not be
// counted.
std::int64_t countable_feature_maps(const NetworkType& network, const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // 1 PiB: a step's sums stay far below 2^63
  const Graph graph = build_network(network, spec);
  std::int64_t per_sample = 0;
  for (const Layer& layer : graph.layers()) {
    const bool computed = layer.kind != LayerKind::input && layer.kind != LayerKind::flatten;
    per_sample += computed ? layer.shape.elements() * bytes_of(spec.dtype) : 0;
  }
  if (spec.batch > kMost / std::max<std::int64_t>(per_sample, 1)) {
    throw OutOfMemory(
        fmt::format("batch {} would need more than 1 PiB for its activations alone ({} a sample)", spec.batch,
                    format_bytes(per_sample)),
        std::numeric_limits<std::int64_t>::max());
  }
  return spec.batch * per_sample;
}

}  // namespace

WorkloadType network_workload(const NetworkType& network) {
  WorkloadType type;
  type.name = network.name;
  type.kind = "network";
  type.description = network.description;
  type.modes = {"infer", "train"};
  type.options = options_of(network);
  type.check = [network](const WorkloadSpec& spec) { check(network, spec); };
  type.unsupported = [](const WorkloadSpec& spec, Device& device) -> std::optional<std::string> {
    if (auto reason = device.unsupported(spec.dtype)) {
      return reason;
    }
    // Every network has layers that cuDNN or cuBLASLt compute.
    if (auto reason = cuda::libraries_compute_otherwise(device, spec.dtype)) {
      return reason;
    }
    return launch_unsupported(spec, device);
  };
  type.plan = [network](const WorkloadSpec& spec, Device& device) {
    const std::int64_t feature_maps = countable_feature_maps(network, spec);
    MemoryPlan plan = trains(spec) ? plan_training(network, spec, device).memory()
                                   : plan_inference(network, spec, device).memory();
    plan.feature_maps = feature_maps;
    return plan;
  };
  type.timeline = [network](const WorkloadSpec& spec, Device& device) {
    return trains(spec) ? plan_training(network, spec, device).timeline()
                        : plan_inference(network, spec, device).timeline();
  };
  type.make = [network](const WorkloadSpec& spec, Device& device) -> std::unique_ptr<Workload> {
    if (trains(spec)) {
      return std::make_unique<TrainWorkload>(network, spec, device);
    }
    return std::make_unique<InferWorkload>(network, spec, device);
  };
  return type;
}

}  // namespace bench::kernels
