#include "kernels/devices/cuda/tf32_override.h"

#include <fmt/format.h>

#include "kernels/devices/cuda/card.h"

namespace bench::kernels::cuda {

std::optional<std::string> libraries_compute_otherwise(const Device& device, Dtype dtype) {
  const auto& details = device.info().details;
  const auto value = details.find(kTf32OverrideDetail);
  if (value == details.end()) {
    return std::nullopt;
  }
  if (dtype == Dtype::tf32 && value->second == "0") {
    return fmt::format("{}=0 is set, with which cuDNN and cuBLASLt compute in fp32 instead; unset it",
                       kTf32Override);
  }
  constexpr int kFirstWithTf32 = 80;
  if (dtype == Dtype::fp32 && value->second != "0" &&
      card_of(device).compute_capability() >= kFirstWithTf32) {
    return fmt::format("{}={} is set, with which cuDNN and cuBLASLt may compute fp32 in tf32; unset it",
                       kTf32Override, value->second);
  }
  return std::nullopt;
}

}  // namespace bench::kernels::cuda
