#include "kernels/backends/cudnn/toolkit/operation_graph.h"

#include <algorithm>

namespace bench::kernels::cudnn {
namespace {

constexpr Attribute kIsVirtual = CUDNN_ATTR_TENSOR_IS_VIRTUAL;
constexpr Attribute kIsByValue = CUDNN_ATTR_TENSOR_IS_BY_VALUE;

}  // namespace

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

Descriptor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t type) {
  Descriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  pointwise.set(CUDNN_ATTR_POINTWISE_MODE, mode);
  pointwise.set(CUDNN_ATTR_POINTWISE_MATH_PREC, type);
  pointwise.finalize();
  return pointwise;
}

const Descriptor& OperationGraph::stored(TensorId id, const Tensor& tensor, cudnnDataType_t type) {
  ids_.push_back(id);
  return add_tensor(id, tensor, type, nullptr);
}

const Descriptor& OperationGraph::between(const Tensor& tensor, cudnnDataType_t type) {
  return add_tensor(next_++, tensor, type, &kIsVirtual);
}

const Descriptor& OperationGraph::constant(float value) {
  constants_.push_back(value);
  constant_ids_.push_back(next_);
  ids_.push_back(next_);
  return add_tensor(next_++, {.dims = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}}, CUDNN_DATA_FLOAT, &kIsByValue);
}

const Descriptor& OperationGraph::add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type,
                                             const Attribute* kind) {
  constexpr std::int64_t kAlignment = 16;  // bytes
  Descriptor& added = tensors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  added.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  added.set_all(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(tensor.dims));
  added.set_all(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(tensor.strides));
  added.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  added.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  if (kind != nullptr) {
    added.set(*kind, true);
  }
  added.finalize();
  return added;
}

void OperationGraph::add(Descriptor operation) {
  operation.finalize();
  operations_.push_back(std::move(operation));
}

void OperationGraph::add_pointwise(const Descriptor& mode, const Descriptor& x, const Descriptor* other,
                                   const Descriptor& to, const Descriptor* condition) {
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, mode);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  if (other != nullptr) {
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  }
  if (condition != nullptr) {
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *condition);
  }
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1.0F);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1.0F);
  add(std::move(operation));
}

void OperationGraph::finalize(cudnnHandle_t handle) {
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_);
  if (handle != nullptr) {
    graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  }
  graph_.finalize();
}

std::vector<void*> OperationGraph::pointers(const PlanArguments& arguments) const {
  std::vector<void*> pointers;
  for (const std::int64_t id : ids_) {
    if (id < kTensorIds) {
      pointers.push_back(arguments[static_cast<TensorId>(id)]);
    } else {
      const auto at = std::ranges::find(constant_ids_, id) - constant_ids_.begin();
      pointers.push_back(const_cast<float*>(&constants_[static_cast<std::size_t>(at)]));
    }
  }
  return pointers;
}

}  // namespace bench::kernels::cudnn
