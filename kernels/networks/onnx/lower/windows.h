// Attributes of operators over windows, and their input as maps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/window.h"

namespace bench::kernels::onnx {

// The sizes of a kernel, strides or dilations: `axes` of them, 1 or more; all 1 where the attribute is not
// given. Throws Refused.
std::vector<std::int64_t> sizes_of(const Lowering& node, const std::string& attribute, std::size_t axes);
// The attribute kernel_shape, where it is given, is that of the weights. Throws Refused.
void require_kernel(const Lowering& node, const std::vector<std::int64_t>& kernel, const Shape& weights);
void require_sizes(const std::vector<std::int64_t>& kernel);
// The padding before and after each axis, 2 · axes sizes; all 0 where none is given, or by auto_pad VALID.
// Throws Refused.
std::vector<std::int64_t> pads_of(const Lowering& node, std::size_t axes);

struct Windows {
  PerAxis kernel = 1, stride = 1, dilation = 1;
  Padding pad = 0;
};

// The windows of a node over maps, or over signals, whose only dimension is the width. Throws Refused.
Windows windows_of(const Lowering& node, const std::vector<std::int64_t>& kernel);

// A node's first input as maps.
struct Maps {
  Layers::Value layer = 0;
  std::int64_t channels = 0;
  Windows windows;
  bool signal = false;  // of one dimension: maps of height 1

  // The shape in the file of maps that the node makes.
  Shape result(const Shape& maps) const;
};
// A border of `border` around it is taken into the windows' padding; nullopt: none is.
Maps maps_of(const Lowering& node, const Windows& windows, std::optional<double> border);

}  // namespace bench::kernels::onnx
