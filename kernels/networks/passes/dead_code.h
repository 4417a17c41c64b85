// Dead-code elimination: a network without the layers that its output does not depend on.
#pragma once

#include <map>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

struct LiveLayers {
  Graph graph;
  std::map<Graph::Value, Graph::Value> places;  // old index of each value that is kept -> new one
};
// The output is the last layer.
LiveLayers without_dead_code(const Graph& graph, Graph::Value output);

}  // namespace bench::kernels
