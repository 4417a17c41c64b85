// Registers cuDNN for transposed convolution; kernels/backends/cudnn/toolkit/run_graph.cpp makes the
// call.
#include "kernels/backends/cudnn/convolution_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
namespace {

Conv2d convolution_of(const ConvTranspose& spec) {
  Conv2d convolution = exchanged_convolution(spec);
  convolution.training = true;
  return convolution;
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

const Registration<Implementation<ConvTranspose>> BENCH_REGISTERED{{
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
