// In which layouts a network's activations are stored: a choice of the device's, made in one place for each
// kind.
#pragma once

#include <functional>
#include <string>

#include "bench/device.h"
#include "kernels/tensor.h"

namespace bench::kernels {

struct NetworkLayouts {
  Layout image = Layout::nhwc;  // of the input batch, with few channels
  Layout inner = Layout::nhwc;  // of every other activation
};

// Registered by a kind of device that has a preference; the others get NHWC throughout.
struct LayoutPolicy {
  std::string name;  // the device's kind: "cpu"
  std::function<NetworkLayouts(const Device&, Dtype)> choose;
};

NetworkLayouts layouts_for(const Device& device, Dtype dtype);

}  // namespace bench::kernels
