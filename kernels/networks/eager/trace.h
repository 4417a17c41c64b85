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
  std::string kind;       // of the layer
  std::size_t block = 0;  // of layers that are computed again together; 0: none are
};

struct EagerTrace {
  std::vector<EagerTensor> tensors;  // the first is the network's input
  std::vector<EagerStep> steps;
};

// What code does that the graph does not tell.
struct CodeForm {
  // One operation, or written out: two products, and between them the scale of the scores and their softmax.
  AttentionForm attention = AttentionForm::fused;
  bool masks = false;      // attention that is written out adds a mask of padding
  bool dropout = false;    // of a softmax before a product, and of a linear layer before a sum of two tensors
  bool recompute = false;  // of all values but those between blocks
};

// `graph` as a network builds it. Views have no operation; reshapes of values that lie in another order, and
// operands of products that do, are copied first.
EagerTrace eager_trace(const Graph& graph, const CodeForm& form = {});

}  // namespace bench::kernels
