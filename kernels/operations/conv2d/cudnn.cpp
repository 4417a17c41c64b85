// Registers cuDNN for convolution and its gradients; kernels/backends/cudnn/toolkit/run_graph.cpp makes
// the call. Bias, residual and activation are fused where cuDNN can, else one kernel of our own applies them.
#include "kernels/backends/cudnn/convolution_operation.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {
namespace {

// Trained biases stay in fp32, as their gradients are.
cudnn::ConvolutionSlots slots_of(const Conv2d& spec) {
  const bool of_weights = spec.direction == Direction::backward_weights;
  return {.x = spec.direction == Direction::backward_data ? Slot::diff_src : Slot::src,
          .w = of_weights ? Slot::diff_weights : Slot::weights,
          .y = spec.direction == Direction::forward ? Slot::dst : Slot::diff_dst,
          .bias = spec.bias,
          .wide_bias = spec.training || of_weights};
}

const Registration<Implementation<Conv2d>> BENCH_REGISTERED{{
    .name = "cudnn",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = [](const Conv2d& spec, const Device& device) { return cudnn::unsupported(spec, device); },
    .make = [](const Conv2d& spec,
               Device& device) { return cudnn::make_convolution(spec, slots_of(spec), device); },
}};

}  // namespace
}  // namespace bench::kernels
