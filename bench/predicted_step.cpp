#include "bench/predicted_step.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bench/error.h"
#include "bench/model/step_setting.h"
#include "bench/model/step_time.h"
#include "bench/modelled.h"
#include "bench/registry.h"

namespace bench {
namespace {

// Throws Unsupported.
NetworkTerms terms_of(const ConfiguredWorkload& workload, const StepSetting& setting) {
  std::optional<NetworkTerms> terms = workload.eager_terms(form_of(setting));
  if (!terms) {
    throw Unsupported("the model of GPUs knows no time of this workload");
  }
  return *std::move(terms);
}

constexpr std::string_view kComputesAgain =
    "the time of a step that computes values again is not known: none was measured";

// Throws Unsupported.
PredictedStep step_of(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting) {
  if (const auto reason = model.unsupported(setting)) {
    throw Unsupported(*reason);
  }
  if (terms.computes_again) {
    throw Unsupported(std::string(kComputesAgain));
  }
  return model.step(terms, setting);
}

// Throws Unsupported.
const LibraryPlanner& library_planner() {
  const LibraryPlanner* const planner = registry<LibraryPlanner>().find("cudnn");
  return planner == nullptr ? throw Unsupported("this program plans nothing for GPUs that are not here")
                            : *planner;
}

// Of a program without a planner: nothing.
PlannedWorkspace eager_workspace(const ConfiguredWorkload& workload, const StepSetting& setting,
                                 Device& device) {
  const LibraryPlanner* const planner = registry<LibraryPlanner>().find("cudnn");
  return planner == nullptr ? PlannedWorkspace{} : planner->eager_workspace(workload, setting, device);
}

bool predicts_engine(const Device& device) {
  return device.model() != nullptr && device.model()->framework() == Framework::bench;
}

Json to_json(const PlannedWorkspace& planned) {
  if (planned.by.empty()) {
    return planned.why_not.empty() ? Json() : Json{{"why_not", planned.why_not}};
  }
  Json json = {{"planned_by", planned.by}, {"planned_bytes", planned.bytes}};
  if (!planned.largest.empty()) {
    json["largest"] = planned.largest;
  }
  return json;
}

// Of this program's own engine, whose time only a measurement tells.
Point planned_point(const SweepPoint& point, Device& device) {
  const MemoryPlan plan = library_planner().engine_plan(*point.workload, device);
  return {
      .name = point.name,
      .params = point.params,
      .origin = Origin::planned,
      .items_per_step = static_cast<double>(point.spec.batch),
      .memory = {.by_category = plan.at_peak, .peak_predicted = plan.peak},
      .prediction = {
          .model = {
              {"framework", name_of(Framework::bench)},
              {"card", device.info().id},
              {"caveats",
               Json::array(
                   {"the plan leaves out the card's context, and takes cuBLASLt's workspace at its limit"})},
              {"workspace",
               {{"planned_by", library_planner().planned_by(device)},
                {"planned_bytes", plan.in_step[MemoryCategory::workspace]}}}}}};
}

Json model_to_json(const PredictedStep& step, const PredictedMemory& memory, const GpuModel& model,
                   double flops) {
  return {{"framework", name_of(model.framework())},
          {"card", model.gpu().id},
          {"gpu_ns", step.gpu_ns},
          {"host_ns", step.host_ns},
          {"products_ns", step.products_ns},
          {"memory_ns", step.memory_ns},
          {"tiles_ns", step.tiles_ns},
          {"launches_ns", step.launches_ns},
          {"flops", flops},
          {"peak_interval80", {std::llround(memory.peak80.low), std::llround(memory.peak80.high)}},
          {"ratio_deviation", step.ratio_deviation},
          {"batch_deviation", step.batch_deviation},
          {"host_deviation", step.host_deviation},
          {"caveats", step.caveats}};
}

// Memory without a time.
Point untimed_point(const SweepPoint& point, const GpuModel& model, const PredictedMemory& memory) {
  return {.name = point.name,
          .params = point.params,
          .origin = Origin::planned,
          .items_per_step = static_cast<double>(point.spec.batch),
          .memory = {.by_category = memory.at_peak, .peak_predicted = memory.peak},
          .prediction = {.model = {{"framework", name_of(model.framework())},
                                   {"card", model.gpu().id},
                                   {"peak_interval80",
                                    {std::llround(memory.peak80.low), std::llround(memory.peak80.high)}},
                                   {"caveats", Json::array({kComputesAgain})}}}};
}

// Memory by the model's total alone.
Point point_of(const SweepPoint& point, const Device& device, const GpuModel& model) {
  const StepSetting setting = step_setting(point.spec, device);
  const NetworkTerms terms = terms_of(*point.workload, setting);
  const PredictedMemory memory = model.memory(terms, setting);
  if (terms.computes_again) {
    return untimed_point(point, model, memory);
  }
  const PredictedStep step = step_of(model, terms, setting);
  const auto samples = static_cast<double>(point.spec.batch);
  const Work work{.samples = samples, .flops = flops_of(terms, point.spec.batch)};
  return {.name = point.name,
          .params = point.params,
          .origin = Origin::predicted,
          .items_per_step = samples,
          .work = work,
          .memory = {.by_category = memory.at_peak, .peak_predicted = memory.peak},
          .prediction = {.step_ns = {.value = step.step_ns, .ci95 = step.interval80_ns},
                         .model = model_to_json(step, memory, model, work.flops)}};
}

}  // namespace

StepSetting step_setting(const WorkloadSpec& spec, const Device& device) {
  return step_setting(spec, {.cast_whole = device.info().details.contains(kCastDetail)});
}

std::optional<std::string> unsupported_on(Device& device, const ConfiguredWorkload& workload,
                                          const WorkloadSpec& spec) {
  if (device.model() == nullptr) {
    return workload.unsupported(device);
  }
  return predicts_engine(device) ? device.unsupported(spec.dtype)
                                 : device.model()->unsupported(step_setting(spec, device));
}

MemoryPlan plan_on(Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec) {
  if (device.model() == nullptr) {
    return workload.plan(device);
  }
  if (predicts_engine(device)) {
    return library_planner().engine_plan(workload, device);
  }
  const StepSetting setting = step_setting(spec, device);
  const PredictedMemory memory = device.model()->memory(terms_of(workload, setting), setting);
  return {.at_peak = memory.at_peak, .peak = memory.peak};
}

std::int64_t most_bytes_on(Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec,
                           std::int64_t planned) {
  if (device.model() == nullptr || predicts_engine(device)) {
    return planned;
  }
  constexpr double kMost = 4e18;  // below 2^62
  const StepSetting setting = step_setting(spec, device);
  const Interval peak80 = device.model()->memory(terms_of(workload, setting), setting).peak80;
  return std::max(planned, static_cast<std::int64_t>(std::ceil(std::min(peak80.high, kMost))));
}

bool counts_scores(const Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec) {
  if (device.model() == nullptr || predicts_engine(device)) {
    return false;
  }
  const NetworkTerms terms = terms_of(workload, step_setting(spec, device));
  return terms.has_attention && terms.attention != AttentionForm::fused;
}

PredictedStep predicted_step(const Device& device, const ConfiguredWorkload& workload,
                             const WorkloadSpec& spec) {
  const StepSetting setting = step_setting(spec, device);
  return step_of(*device.model(), terms_of(workload, setting), setting);
}

Point predicted_point(const SweepPoint& point, Device& device) {
  return predicts_engine(device) ? planned_point(point, device)
                                 : predicted_point(point, device, *device.model());
}

Point predicted_point(const SweepPoint& point, Device& device, const GpuModel& model) {
  Point predicted = point_of(point, device, model);
  if (predicted.peak() > device.memory().cap().value_or(predicted.peak())) {
    return predicted;  // nothing is planned of what does not fit
  }
  const StepSetting setting = step_setting(point.spec, device);
  const PlannedWorkspace planned = eager_workspace(*point.workload, setting, device);
  const PredictedMemory memory = model.memory(terms_of(*point.workload, setting), setting, planned.bytes);
  predicted.memory = {.by_category = memory.at_peak, .peak_predicted = memory.peak};
  Json& told = predicted.prediction.model;
  if (planned.bytes > memory.at_peak[MemoryCategory::workspace]) {
    told["caveats"].push_back(
        "cuDNN plans more workspace than the fitted total has room for, so memory may be higher "
        "(model.workspace in the file)");
  }
  if (Json workspace = to_json(planned); !workspace.is_null()) {
    told["workspace"] = std::move(workspace);
  }
  return predicted;
}

}  // namespace bench
