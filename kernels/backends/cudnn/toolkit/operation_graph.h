// An operation graph of cuDNN's descriptors while it is put together, and the tensors that its runs need.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernels/backends/cudnn/plans.h"
#include "kernels/backends/cudnn/toolkit/descriptor.h"

namespace bench::kernels::cudnn {

inline constexpr auto kSum = CUDNN_DATA_FLOAT;  // whatever the tensors hold

cudnnDataType_t type_of(Dtype dtype);

// Owns the descriptors that the graph's own refers to.
class OperationGraph {
 public:
  // A tensor in memory.
  const Descriptor& stored(TensorId id, const Tensor& tensor, cudnnDataType_t type);
  // One between two operations, which is never in memory.
  const Descriptor& between(const Tensor& tensor, cudnnDataType_t type);
  // A number that runs hand over by value.
  const Descriptor& constant(float value);

  void add(Descriptor operation);
  // to = mode(x), or mode(x, other); with `condition` other where that is false.
  void add_pointwise(const Descriptor& mode, const Descriptor& x, const Descriptor* other,
                     const Descriptor& to, const Descriptor* condition = nullptr);
  // `handle`: of a card that is here, else null.
  void finalize(cudnnHandle_t handle);

  const Descriptor& get() const { return graph_; }
  // Of the tensors in memory and the constants, in one order.
  const std::vector<std::int64_t>& ids() const { return ids_; }
  std::vector<void*> pointers(const PlanArguments& arguments) const;

 private:
  const Descriptor& add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type,
                               const Attribute* kind);

  std::vector<std::int64_t> ids_;
  std::int64_t next_ = kTensorIds;
  std::deque<float> constants_;  // of the last ids; a deque leaves its elements where they are
  std::vector<std::int64_t> constant_ids_;
  std::deque<Descriptor> tensors_;
  std::vector<Descriptor> operations_;
  Descriptor graph_{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

// A pointwise operation's mode, finalized. `type`: of the arithmetic.
Descriptor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t type = kSum);

}  // namespace bench::kernels::cudnn
