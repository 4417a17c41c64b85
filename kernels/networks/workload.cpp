#include "kernels/networks/workload.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "kernels/networks/infer.h"
#include "kernels/networks/train/workload.h"

namespace bench::kernels {
namespace {

bool trains(const WorkloadSpec& spec) {
  return spec.mode == "train";
}

std::vector<WorkloadType::Option> options(const NetworkType& network) {
  const std::string multiple =
      network.image_step == 1 ? "" : fmt::format("a multiple of {} ", network.image_step);
  std::vector<WorkloadType::Option> all{
      {"image-size", std::to_string(network.image_size),
       fmt::format("pixels a side of the square input images, {}up to {}", multiple, kLargestImage)}};
  for (WorkloadType::Option& option : training_options()) {
    all.push_back(std::move(option));
  }
  return all;
}

void check(const NetworkType& network, const WorkloadSpec& spec) {
  build_network(network, spec);
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

}  // namespace

WorkloadType network_workload(const NetworkType& network) {
  WorkloadType type;
  type.name = network.name;
  type.kind = "network";
  type.description = network.description;
  type.modes = {"infer", "train"};
  type.options = options(network);
  type.check = [network](const WorkloadSpec& spec) { check(network, spec); };
  type.unsupported = [](const WorkloadSpec& spec, Device& device) { return device.unsupported(spec.dtype); };
  type.plan = [network](const WorkloadSpec& spec, Device& device) {
    return trains(spec) ? plan_training(network, spec, device).memory()
                        : plan_inference(network, spec, device).memory();
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
