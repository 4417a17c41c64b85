// A part of a value that is written: exporters make the place of every element of it.
//
//   ScatterND(x, Concat(Unsqueeze(Expand(i0, shape), −1), Unsqueeze(Expand(i1, shape), −1), …; axis −1),
//   updates)
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/patterns/groups.h"

namespace bench::kernels::onnx {
namespace {

using NodeId = GraphIndex::NodeId;

bool is_made_by(const GraphIndex& index, NodeId node, std::string_view op) {
  return node != GraphIndex::kNone && index.is(node, op);
}

// The indices along one dimension, before they are repeated to every place; kNone: another form.
GraphIndex::Value indices_of(const GraphIndex& index, GraphIndex::Value repeated) {
  const NodeId unsqueeze = index.maker(repeated);
  if (!is_made_by(index, unsqueeze, "Unsqueeze")) {
    return GraphIndex::kNone;
  }
  const auto attribute = integers_of(index.node(unsqueeze), "axes");
  const auto axes = attribute ? *attribute : index.integers(index.input(unsqueeze, 1));
  const NodeId expand = index.maker(index.input(unsqueeze, 0));
  if (axes != std::vector<std::int64_t>{-1} || !is_made_by(index, expand, "Expand")) {
    return GraphIndex::kNone;
  }
  return index.input(expand, 0);
}

}  // namespace

bool recognise_scatter(GraphIndex& index, NodeId node) {
  const NodeId concat = index.is(node, "ScatterND") ? index.maker(index.input(node, 1)) : GraphIndex::kNone;
  if (!is_made_by(index, concat, "Concat") || integer_of(index.node(concat), "axis", 0) != -1) {
    return false;
  }
  std::vector<GraphIndex::Value> inputs{index.input(node, 0), index.input(node, 2)};
  for (std::size_t i = 0; i < index.node(concat).inputs.size(); ++i) {
    inputs.push_back(indices_of(index, index.input(concat, i)));
    if (inputs.back() == GraphIndex::kNone) {
      return false;
    }
  }
  index.replace(std::vector{node}, node, "bench", "ScatterGrid", inputs, index.node(node).attributes);
  return true;
}

}  // namespace bench::kernels::onnx
