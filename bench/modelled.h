// GPUs that are not here, as devices that predict. Implemented in kernels/devices/modelled/.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/model/gpu_model.h"

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

// The detail of DeviceInfo that says how a modelled device computes fp16: "whole" or absent.
inline constexpr const char* kCastDetail = "cast";
// After the framework's name. `cast`: that detail.
inline std::string cast_in_words(const std::string& cast) {
  return cast == "whole" ? " (cast whole to fp16)" : "";
}

}  // namespace bench
