// Layers of convolutions as the operations that they are, for one sample and the forward pass.
#pragma once

#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {

// `input`: maps, as the layer checks them. Layouts and dtype are the descriptions' usual ones.
Conv2d convolution_of(const ConvOptions& options, const Shape& input);
ConvTranspose convolution_of(const ConvTransposeOptions& options, const Shape& input);

}  // namespace bench::kernels
