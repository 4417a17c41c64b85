// Local functions: operators that the file itself defines as nodes.
#pragma once

#include "kernels/networks/onnx/reader/protos.h"
#include "kernels/networks/onnx/reader/refusal.h"

namespace bench::kernels::onnx {

// Replaces each call by its function's nodes, in graphs of attributes too, until none is left. A node's and a
// value's name begin with the call's: "block1/conv". A result that is an argument passes an Identity. Throws
// Refusal: a function that calls itself, too many arguments, a function for another version of ONNX's
// operators than the network.
void inline_functions(Protos& protos, Allowance& allowance);

}  // namespace bench::kernels::onnx
