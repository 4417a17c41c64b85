// What a network is planned for, and how its values are stored there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/device.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// In which layouts a network's activations are stored: a choice of the device's kind.
struct NetworkLayouts {
  Layout image = Layout::nhwc;  // of the input batch, with few channels
  Layout inner = Layout::nhwc;  // of every other activation
};

// The device's preference; NHWC throughout where it has none, as CUDA, whose libraries' tensor core kernels
// read and write it in every dtype.
NetworkLayouts layouts_for(const Device& device, Dtype dtype);

struct Target {
  std::int64_t batch = 1;
  Dtype dtype = Dtype::fp32;
  NetworkLayouts layouts;
  std::string implementation;  // empty: the device's best
};

// A value in memory, as operations see it.
struct StoredValue {
  TensorDesc tensor;
  // Of flattened maps: the maps, n = 1, whose order and padding the features have.
  std::optional<TensorDesc> flattened{};
};

// n, c, h and w of a shape; further dimensions count as width.
TensorDesc stored_as(const Shape& shape, const Target& target, Layout layout = Layout::nhwc);

}  // namespace bench::kernels
