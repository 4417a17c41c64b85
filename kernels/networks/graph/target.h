// The batch, dtype and layouts that a network is planned for, and how its values are stored.
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
  // The maps, n = 1, that were flattened into these features, which keep their order and padding.
  std::optional<TensorDesc> flattened{};
  // False where flattened maps keep another order than channels, rows, columns, or padding between them.
  bool is_in_shape_order() const {
    return !flattened || flattened->layout == Layout::nchw ||
           (flattened->h * flattened->w == 1 && flattened->c == tensor.c);
  }
};

// A shape folded into n, c, h and w as tensor.h says. Only maps are stored in the given layout; every other
// shape lies in the order of its dimensions, the last one fastest.
TensorDesc stored_as(const Shape& shape, const Target& target, Layout maps = Layout::nhwc);

}  // namespace bench::kernels
