// A convolution as an operation graph of cuDNN's.
#include <array>
#include <limits>

#include "kernels/backends/cudnn/toolkit/operation_graph.h"

namespace bench::kernels::cudnn {
namespace {

// The attributes of a direction's operation.
struct DirectionAttributes {
  cudnnBackendDescriptorType_t operation;
  Attribute x, w, y, geometry, alpha, beta;
};
constexpr std::array<DirectionAttributes, 3> kDirections{{
    // by Direction
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
}};

Descriptor geometry_of(const Conv2d& convolution) {
  const Conv2d& c = convolution;
  Descriptor geometry(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto set = [&](Attribute name, std::int64_t rows, std::int64_t columns) {
    geometry.set_all(name, std::span<const std::int64_t>(std::array{rows, columns}));
  };
  geometry.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, kSum);
  geometry.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  geometry.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.pad_h, c.pad_w);
  set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.pad_h + c.pad_bottom, c.pad_w + c.pad_right);
  set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilation_h, c.dilation_w);
  set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.stride_h, c.stride_w);
  geometry.finalize();
  return geometry;
}

Descriptor pointwise_of(Activation activation) {
  if (activation == Activation::gelu) {
    return pointwise(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
  }
  if (!is_rectifier(activation)) {
    throw Unsupported(fmt::format("{} is left to a kernel of our own", name_of(activation.kind)));
  }
  constexpr double kNoClip = std::numeric_limits<float>::max();
  Descriptor relu(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  relu.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
  relu.set(CUDNN_ATTR_POINTWISE_MATH_PREC, kSum);
  relu.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, activation == Activation::relu6 ? 6.0 : kNoClip);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE,
           activation.kind == ActivationKind::leaky_relu ? double{activation.alpha} : 0.0);
  relu.finalize();
  return relu;
}

}  // namespace

void describe(const Conv2d& convolution, OperationGraph& graph) {
  const cudnnDataType_t type = type_of(convolution.dtype);
  const ConvolutionTensors tensors = tensors_of(convolution);
  int left = (convolution.residual ? 1 : 0) + (convolution.bias ? 1 : 0) +
             (convolution.activation != Activation::none ? 1 : 0);
  // y, or where operations are left what they read.
  const auto result = [&]() -> const Descriptor& {
    return left == 0 ? graph.stored(kY, tensors.y, type) : graph.between(tensors.y, kSum);
  };
  const DirectionAttributes& names = kDirections.at(static_cast<std::size_t>(convolution.direction));
  const Descriptor* made = &result();
  Descriptor operation(names.operation);
  operation.set(names.x, graph.stored(kX, tensors.x, type));
  operation.set(names.w, graph.stored(kW, tensors.w, type));
  operation.set(names.y, *made);
  operation.set(names.geometry, geometry_of(convolution));
  operation.set(names.alpha, 1.0F);
  operation.set(names.beta, 0.0F);
  graph.add(std::move(operation));

  const auto append = [&](const Descriptor& mode, const Descriptor* other) {
    --left;
    const Descriptor& to = result();
    graph.add_pointwise(mode, *made, other, to);
    made = &to;
  };
  if (convolution.residual) {
    append(pointwise(CUDNN_POINTWISE_ADD), &graph.stored(kResidual, tensors.y, type));
  }
  if (convolution.bias) {
    append(pointwise(CUDNN_POINTWISE_ADD),
           &graph.stored(kBias, channels_last(1, convolution.out_channels, 1, 1), type));
  }
  if (convolution.activation != Activation::none) {
    append(pointwise_of(convolution.activation), nullptr);
  }
}

}  // namespace bench::kernels::cudnn
