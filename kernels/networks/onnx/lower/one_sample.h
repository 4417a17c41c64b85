// Constants that a file holds once for each sample of its batch, all of them alike: token types, hidden
// states of zeros, masks of ones. One sample's part is meant for each.
#pragma once

#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// Replaces such inputs of a node: where they meet values of any batch by one sample's part, and where rows of
// a table or of a product with weights are made of them by values of any batch.
void take_one_sample(Lowering& node);

}  // namespace bench::kernels::onnx
