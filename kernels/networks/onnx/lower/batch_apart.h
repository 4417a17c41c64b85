// A dimension of k · batch seen as two: the batch, then k elements of each sample. So lies it in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/networks/onnx/constants/slices.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// The dimension, counted from the last one, 0, in which k · batch elements of one shape meet k of another or
// those of the batch, which no layer repeats; nullopt: there is none.
std::optional<std::size_t> meeting(const std::vector<Shape>& shapes);

// The shape with that dimension as two, of which the first is 1 where it does not depend on the batch. A
// shape of fewer dimensions stays. Throws Refused beyond six dimensions.
Shape apart(const Shape& shape, std::size_t from_end);
Value apart(Importing& network, const Value& value, std::size_t from_end);

// Some elements of each sample along a dimension of k · batch, or of any other dimension.
Layers::Value sliced(Lowering& node, Layers::Value from, const Sliced& part);

}  // namespace bench::kernels::onnx
