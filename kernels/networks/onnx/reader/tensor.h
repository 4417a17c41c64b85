// TensorProto: a tensor's name, type and dimensions, and where its elements are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/networks/onnx/model.h"
#include "kernels/networks/onnx/reader/wire.h"

namespace bench::kernels::onnx {

// Bytes of an element; 0: of strings, and of types that ElementType does not list.
std::uint64_t element_size(ElementType type);
// "f32", or the number of a type that ElementType does not list.
std::string type_name(ElementType type);

// Leaves elements that the file holds in one piece where they are: `range` without `bytes`. Throws Refusal
// where their count is not the dimensions'.
Tensor read_tensor(wire::Message message, Allowance& allowance);
// SparseTensorProto, as a dense tensor whose elements are not here.
Tensor read_sparse_tensor(wire::Message message, Allowance& allowance);

// Reads the elements that are left in the file, the smallest tensor first, within the bounds. The others
// become external.
void read_elements(wire::Input& input, std::span<Tensor* const> tensors, Allowance& allowance);

}  // namespace bench::kernels::onnx
