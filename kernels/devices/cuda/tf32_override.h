// The environment's override of tf32 in NVIDIA's libraries. Needs no CUDA header.
#pragma once

#include <optional>
#include <string>

#include "bench/device.h"

namespace bench::kernels::cuda {

// A variable of the environment that cuDNN and cuBLASLt read: at 0 they use no tf32, whatever is asked of
// them; at any other value they may use it where fp32 is asked for. Empty it counts as unset.
inline constexpr const char* kTf32Override = "NVIDIA_TF32_OVERRIDE";

// Where DeviceInfo::details holds its value, if it was set when the device was opened.
inline constexpr const char* kTf32OverrideDetail = "nvidia_tf32_override";

// Why a point in `dtype` would be computed in another one by cuDNN and cuBLASLt; nullopt where it would not,
// as on any device that is no card. Kernels of our own do not ask: they compute in what they are given.
std::optional<std::string> libraries_compute_otherwise(const Device& device, Dtype dtype);

}  // namespace bench::kernels::cuda
