// Registers cuDNN for transposed convolution; kernels/backends/cudnn/toolkit/run_graph.cpp makes the
// call. It is the convolution that reads the result and writes the source, with the passes swapped: plain
// weights [in][out][kernel][kernel] are that convolution's [out][in][kernel_h][kernel_w].
#include "kernels/backends/cudnn/convolution_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
namespace {

using Direction = ConvTranspose::Direction;

Conv2d::Direction swapped(Direction direction) {
  switch (direction) {
    case Direction::forward:
      return Conv2d::Direction::backward_data;
    case Direction::backward_data:
      return Conv2d::Direction::forward;
    case Direction::backward_weights:
      return Conv2d::Direction::backward_weights;
    case Direction::backward:
      break;
  }
  return {};
}

Conv2d convolution_of(const ConvTranspose& spec) {
  const TensorDesc dst = spec.dst();
  return {.batch = dst.n,
          .in_channels = dst.c,
          .height = dst.h,
          .width = dst.w,
          .out_channels = spec.src.c,
          .kernel_h = spec.kernel,
          .kernel_w = spec.kernel,
          .stride_h = spec.stride,
          .stride_w = spec.stride,
          .direction = swapped(spec.direction),
          .dtype = spec.src.dtype,
          .src_layout = spec.src.layout,
          .dst_layout = spec.src.layout,
          .training = true};
}

cudnn::ConvolutionSlots slots_of(const ConvTranspose& spec) {
  return {.x = spec.direction == Direction::forward ? Slot::dst : Slot::diff_dst,
          .w = spec.direction == Direction::backward_weights ? Slot::diff_weights : Slot::weights,
          .y = spec.direction == Direction::backward_data ? Slot::diff_src : Slot::src,
          .bias = spec.bias,
          .wide_bias = true,
          .transposed = true};
}

std::optional<std::string> unsupported(const ConvTranspose& spec, const Device& device) {
  if (auto wrong = spec.invalid()) {
    return wrong;
  }
  return cudnn::unsupported(convolution_of(spec), device);
}

const Registration<Implementation<ConvTranspose>> registered{{
    .name = "cudnn",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = unsupported,
    .make =
        [](const ConvTranspose& spec, Device& device) {
          return cudnn::make_convolution(convolution_of(spec), slots_of(spec), device);
        },
}};

}  // namespace
}  // namespace bench::kernels
