// Values joined to one, as Concat, Loop and the operators of sequences need it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// Along a dimension, which is k · batch for each sample by itself. A value that is the same for every sample
// is repeated where others depend on the batch; known values give a known one. Throws Refused.
Value concatenated(Lowering& node, const std::vector<Value>& values, std::size_t axis);
// The same along a new dimension.
Value stacked(Lowering& node, std::vector<Value> values, std::size_t axis);

// What an operator makes of known values: in the opset of 13, in which lists are inputs.
Constant folded(const Lowering& node, const std::string& op, std::vector<Attribute> attributes,
                const std::vector<const Constant*>& inputs);

}  // namespace bench::kernels::onnx
