// A Convolution as an operation graph of cuDNN's descriptors.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "kernels/backends/cudnn/convolution.h"
#include "kernels/backends/cudnn/toolkit/descriptor.h"

namespace bench::kernels::cudnn {

// The tensors' names in a graph and in its runs; tensors between operations come after.
enum TensorId : std::int64_t { kX = 1, kW, kY, kBias, kResidual, kBetween };

// Owns the descriptors that the graph's own refers to.
class ConvolutionGraph {
 public:
  // `handle`: of a card that is here, else null.
  ConvolutionGraph(const Convolution& convolution, cudnnHandle_t handle);

  const Descriptor& get() const { return graph_; }
  const std::vector<std::int64_t>& ids() const { return ids_; }  // of the tensors in memory

 private:
  void connect(const Convolution& convolution);
  // The operations fused behind fprop, `left` in all; the last one writes y.
  void append_pointwise(const Convolution& convolution, const Descriptor& y, int left);
  const Descriptor& stored(TensorId id, const Tensor& tensor);
  // y, or where operations are left a tensor that is never in memory.
  const Descriptor& result(const Tensor& y, int left);
  const Descriptor& add_tensor(std::int64_t id, const Tensor& tensor, cudnnDataType_t type, bool is_virtual);
  void add(Descriptor operation);

  cudnnDataType_t type_;
  std::vector<std::int64_t> ids_;
  std::deque<Descriptor> tensors_;  // a deque leaves its elements where they are
  std::vector<Descriptor> operations_;
  Descriptor graph_;
};

}  // namespace bench::kernels::cudnn
