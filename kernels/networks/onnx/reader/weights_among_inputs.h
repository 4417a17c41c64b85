// Weights that a file lists among its inputs, as torch.onnx.export(…, export_params=False) writes them.
#pragma once

#include <string>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// Where a node reads an input of floats and fixed sizes as its weight, all such inputs become initializers
// whose elements are elsewhere, but for the first input, masks, and inputs of the first one's dimensions that
// come before every weight. Their names go to `weight_inputs`.
void take_weights(Model& model);

// By its name: what hides positions. A "mask token" is a weight.
bool is_mask(std::string input);

}  // namespace bench::kernels::onnx
