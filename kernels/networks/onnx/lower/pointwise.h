// Shared by the files of elementwise operators.
#pragma once

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// A function of each element of an input is the node's result.
void apply(Lowering& node, std::size_t input, Activation activation);

// The function of two or three values with broadcasting, as a layer. Throws Refused.
Value joined(Lowering& node, PointwiseFunction function, const std::vector<Value>& values);

// The only element of a known value; nullopt where it has several.
std::optional<double> scalar_of(const Value& value);

}  // namespace bench::kernels::onnx
