#include "kernels/networks/graph/convolution.h"

namespace bench::kernels {

Conv2d convolution_of(const ConvOptions& options, const Shape& input) {
  Conv2d spec;
  spec.in_channels = input.channels();
  spec.height = input.height();
  spec.width = input.width();
  spec.out_channels = options.channels;
  spec.kernel_h = options.kernel.h;
  spec.kernel_w = options.kernel.w;
  spec.stride_h = options.stride.h;
  spec.stride_w = options.stride.w;
  spec.pad_h = options.pad.top;
  spec.pad_w = options.pad.left;
  spec.pad_bottom = options.pad.bottom - options.pad.top;
  spec.pad_right = options.pad.right - options.pad.left;
  spec.dilation_h = options.dilation.h;
  spec.dilation_w = options.dilation.w;
  spec.groups = options.groups;
  spec.bias = options.bias;
  return spec;
}

ConvTranspose convolution_of(const ConvTransposeOptions& options, const Shape& input) {
  return {.src = {.n = 1, .c = input.channels(), .h = input.height(), .w = input.width()},
          .out_channels = options.channels,
          .kernel = options.kernel,
          .stride = options.stride.value_or(options.kernel),
          .pad = options.pad,
          .output_pad = options.output_pad,
          .dilation = options.dilation,
          .groups = options.groups,
          .bias = options.bias};
}

}  // namespace bench::kernels
