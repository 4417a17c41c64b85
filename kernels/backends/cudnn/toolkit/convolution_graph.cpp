#include "kernels/backends/cudnn/toolkit/convolution_graph.h"

#include <limits>

namespace bench::kernels::cudnn {
namespace {

constexpr auto kSum = CUDNN_DATA_FLOAT;  // whatever the tensors hold

cudnnDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return CUDNN_DATA_HALF;
    case Dtype::bf16:
      return CUDNN_DATA_BFLOAT16;
    case Dtype::fp32:
    case Dtype::tf32:
      return CUDNN_DATA_FLOAT;
  }
  return CUDNN_DATA_FLOAT;
}

// The attributes of a pass's operation.
struct PassAttributes {
  cudnnBackendDescriptorType_t operation;
  Attribute x, w, y, geometry, alpha, beta;
};
constexpr std::array<PassAttributes, 3> kPasses{{
    // by Pass
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

Descriptor geometry_of(const Convolution& convolution) {
  const auto set = [](Descriptor& to, Attribute name, const std::array<std::int64_t, 2>& values) {
    to.set_all(name, std::span<const std::int64_t>(values));
  };
  Descriptor geometry(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  geometry.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, kSum);
  geometry.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  geometry.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  set(geometry, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, convolution.pad);
  set(geometry, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, convolution.pad);
  set(geometry, CUDNN_ATTR_CONVOLUTION_DILATIONS, convolution.dilation);
  set(geometry, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, convolution.stride);
  geometry.finalize();
  return geometry;
}

Descriptor pointwise(cudnnPointwiseMode_t mode) {
  Descriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  pointwise.set(CUDNN_ATTR_POINTWISE_MODE, mode);
  pointwise.set(CUDNN_ATTR_POINTWISE_MATH_PREC, kSum);
  if (mode != CUDNN_POINTWISE_RELU_FWD) {
    pointwise.finalize();
  }
  return pointwise;
}

Descriptor pointwise(Activation activation) {
  if (activation == Activation::gelu) {
    return pointwise(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
  }
  constexpr double kNoClip = std::numeric_limits<float>::max();
  Descriptor relu = pointwise(CUDNN_POINTWISE_RELU_FWD);
  relu.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, activation == Activation::relu6 ? 6.0 : kNoClip);
  relu.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE,
           activation == Activation::leaky_relu ? double{kLeakySlope} : 0.0);
  relu.finalize();
  return relu;
}

}  // namespace

ConvolutionGraph::ConvolutionGraph(const Convolution& convolution, cudnnHandle_t handle)
    : type_(type_of(convolution.dtype)), graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  connect(convolution);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
  if (handle != nullptr) {
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  }
  graph_.finalize();
}

void ConvolutionGraph::connect(const Convolution& convolution) {
  const PassAttributes& names = kPasses.at(static_cast<std::size_t>(convolution.pass));
  const int behind = (convolution.residual ? 1 : 0) + (convolution.bias ? 1 : 0) +
                     (convolution.activation != Activation::none ? 1 : 0);
  const Descriptor& y = result(convolution.y, behind);
  Descriptor operation(names.operation);
  operation.set(names.x, stored(kX, convolution.x));
  operation.set(names.w, stored(kW, convolution.w));
  operation.set(names.y, y);
  operation.set(names.geometry, geometry_of(convolution));
  operation.set(names.alpha, 1.0F);
  operation.set(names.beta, 0.0F);
  add(std::move(operation));
  append_pointwise(convolution, y, behind);
}

void ConvolutionGraph::append_pointwise(const Convolution& convolution, const Descriptor& y, int left) {
  const Descriptor* from = &y;
  const auto append = [&](const Descriptor& mode, const Descriptor* other) {
    const Descriptor& to = result(convolution.y, --left);
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, mode);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *from);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    if (other != nullptr) {
      operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    }
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1.0F);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1.0F);
    add(std::move(operation));
    from = &to;
  };
  if (convolution.residual) {
    append(pointwise(CUDNN_POINTWISE_ADD), &stored(kResidual, convolution.y));
  }
  if (convolution.bias) {
    append(pointwise(CUDNN_POINTWISE_ADD), &stored(kBias, channels_last(1, convolution.y.dims[1], 1, 1)));
  }
  if (convolution.activation != Activation::none) {
    append(pointwise(convolution.activation), nullptr);
  }
}

const Descriptor& ConvolutionGraph::stored(TensorId id, const Tensor& tensor) {
  ids_.push_back(id);
  return add_tensor(id, tensor, type_, false);
}

const Descriptor& ConvolutionGraph::result(const Tensor& y, int left) {
  return left == 0 ? stored(kY, y) : add_tensor(kBetween + left, y, kSum, true);
}

const Descriptor& ConvolutionGraph::add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type,
                                               bool is_virtual) {
  constexpr std::int64_t kAlignment = 16;  // bytes
  Descriptor& added = tensors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  added.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  added.set_all(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(tensor.dims));
  added.set_all(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(tensor.strides));
  added.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  added.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  if (is_virtual) {
    added.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  }
  added.finalize();
  return added;
}

void ConvolutionGraph::add(Descriptor operation) {
  operation.finalize();
  operations_.push_back(std::move(operation));
}

}  // namespace bench::kernels::cudnn
