// What a mask means.
#pragma once

#include <set>
#include <string>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// The inputs that hide where they are true, as PyTorch's key_padding_mask: what is true is replaced by a
// large negative number or by zeros, has such a number added, or is multiplied by what is not true. Other
// masks hide where they are false.
std::set<std::string> masks_that_hide(const Graph& graph);

}  // namespace bench::kernels::onnx
