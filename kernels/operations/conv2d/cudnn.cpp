// Registers cuDNN for convolution and its gradients; kernels/backends/cudnn/toolkit/run_graph.cpp makes
// the call. Bias, residual and activation are fused where cuDNN can, else one kernel of our own applies them.
#include "kernels/backends/cudnn/convolution_operation.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {
namespace {

cudnn::TensorSlots slots_of(Conv2d::Direction direction) {
  switch (direction) {
    case Conv2d::Direction::forward:
      return {.x = Slot::src, .w = Slot::weights, .y = Slot::dst};
    case Conv2d::Direction::backward_data:
      return {.x = Slot::diff_src, .w = Slot::weights, .y = Slot::diff_dst};
    case Conv2d::Direction::backward_weights:
      return {.x = Slot::src, .w = Slot::diff_weights, .y = Slot::diff_dst};
    case Conv2d::Direction::backward:
      break;
  }
  return {};
}

// Trained biases stay in fp32, as their gradients are.
bool wide_bias(const Conv2d& spec) {
  return spec.training || spec.direction == Conv2d::Direction::backward_weights;
}

const Registration<Implementation<Conv2d>> registered{{
    .name = "cudnn",
    .device_kind = "cuda",
    .preference = 10,
    .unsupported = [](const Conv2d& spec, const Device& device) { return cudnn::unsupported(spec, device); },
    .make =
        [](const Conv2d& spec, Device& device) {
          return cudnn::make_convolution(spec, slots_of(spec.direction), spec.bias, wide_bias(spec), device);
        },
}};

}  // namespace
}  // namespace bench::kernels
