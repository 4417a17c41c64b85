// GPUs that are not here, as devices that predict. Implemented in kernels/devices/modelled/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/model/gpu_model.h"
#include "bench/workload.h"

namespace bench {

// Whose steps a modelled device predicts.
struct ModelledSetting {
  Framework framework = Framework::pytorch;
  bool cast_whole = false;  // fp16 means the model cast whole (--dtype half), not autocast
};

struct ModelledDevices {
  std::string name;                          // "modelled": DeviceInfo::kind
  std::function<std::string()> description;  // one line, for --list
  // `id`: a card of the catalogue, or the path of a card's own JSON file. Throws UsageError naming --device.
  std::function<std::unique_ptr<Device>(const std::string& id, const ModelledSetting& setting)> open;
};

// Scratch memory of a step's convolutions, as cuDNN plans them for a card that is not here.
struct PlannedWorkspace {
  std::int64_t bytes = 0;  // of the convolution that needs most
  std::string largest;     // that convolution, in words; empty where none needs any
  std::string by;          // "cuDNN 9.19 for sm_75"; empty: nothing was planned
  std::string why_not;     // then why; empty: it is no network
};

// What libraries plan for a modelled device. Registered by kernels, in every build.
struct LibraryPlanner {
  std::string name;  // "cudnn"
  // Of a step as eager PyTorch runs it; planning takes a bounded time in all, and is kept for later steps.
  std::function<PlannedWorkspace(const ConfiguredWorkload& workload, const StepSetting& setting,
                                 Device& device)>
      eager_workspace;
  // "cuDNN 9.19 for sm_75". Throws Unsupported with the reason where nothing can be planned for the card.
  std::function<std::string(Device& device)> planned_by;
  // A step of this program's own engine. Throws Unsupported where the card cannot be planned for.
  std::function<MemoryPlan(const ConfiguredWorkload& workload, Device& device)> engine_plan;
};

// The detail of DeviceInfo that says how a modelled device computes fp16: "whole" or absent.
inline constexpr const char* kCastDetail = "cast";
// After the framework's name. `cast`: that detail.
inline std::string cast_in_words(const std::string& cast) {
  return cast == "whole" ? " (cast whole to fp16)" : "";
}

}  // namespace bench
