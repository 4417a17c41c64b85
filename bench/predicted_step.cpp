#include "bench/predicted_step.h"

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "bench/error.h"
#include "bench/model/step_setting.h"
#include "bench/modelled.h"

namespace bench {
namespace {

// Throws Unsupported.
NetworkTerms terms_of(const ConfiguredWorkload& workload, const StepSetting& setting) {
  std::optional<NetworkTerms> terms = workload.eager_terms(setting.cast_whole);
  if (!terms) {
    throw Unsupported("the model of GPUs knows no time of this workload");
  }
  return *std::move(terms);
}

// Throws Unsupported.
PredictedStep step_of(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting) {
  if (const auto reason = model.unsupported(setting)) {
    throw Unsupported(*reason);
  }
  return model.step(terms, setting);
}

// Of a step, rounded up to whole tiles as the model counts them.
double flops_of(const NetworkTerms& terms, std::int64_t batch) {
  const auto sum = [](const StepTerms& of) {
    return std::accumulate(of.flops.begin(), of.flops.end(), 0.0) +
           std::accumulate(of.grads.begin(), of.grads.end(), 0.0);
  };
  return sum(terms.per_sample) * static_cast<double>(batch) + sum(terms.per_step);
}

Json model_to_json(const PredictedStep& step, const GpuModel& model, double flops) {
  return {{"framework", name_of(model.framework())},
          {"card", model.gpu().id},
          {"gpu_ns", step.gpu_ns},
          {"host_ns", step.host_ns},
          {"products_ns", step.products_ns},
          {"memory_ns", step.memory_ns},
          {"tiles_ns", step.tiles_ns},
          {"launches_ns", step.launches_ns},
          {"flops", flops},
          {"ratio_deviation", step.ratio_deviation},
          {"host_deviation", step.host_deviation},
          {"caveats", step.caveats}};
}

}  // namespace

StepSetting step_setting(const WorkloadSpec& spec, const Device& device) {
  return step_setting(spec, device.info().details.contains(kCastDetail));
}

std::optional<std::string> unsupported_on(Device& device, const ConfiguredWorkload& workload,
                                          const WorkloadSpec& spec) {
  return device.model() == nullptr ? workload.unsupported(device)
                                   : device.model()->unsupported(step_setting(spec, device));
}

MemoryPlan plan_on(Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec) {
  if (device.model() == nullptr) {
    return workload.plan(device);
  }
  const StepSetting setting = step_setting(spec, device);
  const PredictedMemory memory = device.model()->memory(terms_of(workload, setting), setting);
  return {.at_peak = memory.at_peak, .peak = memory.peak};
}

PredictedStep predicted_step(const Device& device, const ConfiguredWorkload& workload,
                             const WorkloadSpec& spec) {
  const StepSetting setting = step_setting(spec, device);
  return step_of(*device.model(), terms_of(workload, setting), setting);
}

PredictedPoint predicted_point(const SweepPoint& point, Device& device) {
  return predicted_point(point, device, *device.model());
}

PredictedPoint predicted_point(const SweepPoint& point, Device& device, const GpuModel& model) {
  const StepSetting setting = step_setting(point.spec, device);
  const NetworkTerms terms = terms_of(*point.workload, setting);
  const PredictedStep step = step_of(model, terms, setting);
  const MemoryPlan memory = plan_on(device, *point.workload, point.spec);
  return {.name = point.name,
          .params = point.params,
          .step_ns = step.step_ns,
          .interval80_ns = step.interval80_ns,
          .items_per_step = static_cast<double>(point.spec.batch),
          .memory = memory.at_peak,
          .peak = memory.peak,
          .model = model_to_json(step, model, flops_of(terms, point.spec.batch)),
          .parsed = point.parsed};
}

}  // namespace bench
