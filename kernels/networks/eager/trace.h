// A step as eager PyTorch runs it: the operations of all layers in order, and the tensors between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/networks/eager/operation.h"
#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

struct EagerTensor {
  double values = 0;  // a sample's, or of all samples
  bool for_each_sample = true;
  bool is_number = false;       // of one element for all samples: it changes no dtype
  bool wants_gradient = false;  // a parameter stands before it
};

struct EagerStep {
  struct Read {
    std::size_t tensor = 0;
    double values = 0;
  };
  EagerOperation operation;
  std::vector<Read> reads{};
  std::size_t result = 0;
  std::string kind;  // of the layer
};

struct EagerTrace {
  std::vector<EagerTensor> tensors;  // the first is the network's input
  std::vector<EagerStep> steps;
};

// `graph` as a network builds it. Views have no operation; reshapes of values that lie in another order, and
// operands of products that do, are copied first. Attention is one operation, or written out as two products
// and a softmax, however the graph has it.
EagerTrace eager_trace(const Graph& graph, AttentionForm attention = AttentionForm::fused);

}  // namespace bench::kernels
