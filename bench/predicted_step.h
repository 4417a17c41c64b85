// What the model of a device that is not here says of a workload's step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/device.h"
#include "bench/memory.h"
#include "bench/model/gpu_model.h"
#include "bench/result/result.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench {

// How a modelled device computes a step of the workload.
StepSetting step_setting(const WorkloadSpec& spec, const Device& device);

// Why the workload cannot run on the device, here or modelled; nullopt where it may.
std::optional<std::string> unsupported_on(Device& device, const ConfiguredWorkload& workload,
                                          const WorkloadSpec& spec);
// Its memory there: by the workload's own plan, or by the device's model. Throws Unsupported and OutOfMemory.
MemoryPlan plan_on(Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec);
// The bytes that must be free for a batch to be called one that fits: those planned, or the upper end of what
// the device's model predicts.
std::int64_t most_bytes_on(Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec,
                           std::int64_t planned);
// Whether these count attention as written out, whose scores fill memory, because nobody said that it is
// fused.
bool counts_scores(const Device& device, const ConfiguredWorkload& workload, const WorkloadSpec& spec);

// On a modelled device. All throw Unsupported; those of a point tell the memory too, and throws OutOfMemory.
PredictedStep predicted_step(const Device& device, const ConfiguredWorkload& workload,
                             const WorkloadSpec& spec);
Point predicted_point(const SweepPoint& point, Device& device);
// The same by another model of the device's card.
Point predicted_point(const SweepPoint& point, Device& device, const GpuModel& model);

}  // namespace bench
