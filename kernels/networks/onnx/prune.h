// A network without the layers that its output does not depend on.
#pragma once

#include <map>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels::onnx {

struct Pruned {
  bench::kernels::Graph graph;
  std::map<bench::kernels::Graph::Value, bench::kernels::Graph::Value> places;  // of what is left
};
// The output is the last layer.
Pruned prune(const bench::kernels::Graph& graph, bench::kernels::Graph::Value output);

}  // namespace bench::kernels::onnx
