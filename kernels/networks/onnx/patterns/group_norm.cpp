// torch.nn.GroupNorm before opset 18: groups become the channels of an instance norm.
//
//   Reshape(x, [0, groups, -1]) → InstanceNormalization(ones, zeros) → Reshape(shape) → Mul → Add
//
// where the shape is that of x, or is written down.
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/patterns/groups.h"

namespace bench::kernels::onnx {
namespace {

using NodeId = GraphIndex::NodeId;
// Groups of Reshape(x, [0, groups, -1]); nullopt for any other node. A first size that is written down is
// the batch's.
std::optional<std::int64_t> groups_of(const GraphIndex& index, NodeId node) {
  if (node == GraphIndex::kNone || !index.is(node, "Reshape")) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> sizes = index.integers(index.input(node, 1));
  return sizes.size() == 3 && sizes[1] > 0 ? std::optional(sizes[1]) : std::nullopt;
}

// The node of this operator that is the only one to read a value.
NodeId only_reader(const GraphIndex& index, GraphIndex::Value value, std::string_view op) {
  NodeId found = GraphIndex::kNone;
  for (const NodeId reader : index.readers(value)) {
    if (index.alive(reader)) {
      if (found != GraphIndex::kNone || !index.is(reader, op)) {
        return GraphIndex::kNone;
      }
      found = reader;
    }
  }
  return found;
}

// The initializer that a sum or product with `value` applies to each channel: [C, 1, …], or a vector with
// further dimensions of 1 added.
GraphIndex::Value per_channel(const GraphIndex& index, NodeId node, GraphIndex::Value value) {
  GraphIndex::Value other = index.input(node, index.input(node, 0) == value ? 1 : 0);
  const NodeId made = index.maker(other);
  const bool unsqueezed = made != GraphIndex::kNone && index.is(made, "Unsqueeze");
  if (unsqueezed) {
    const auto attribute = integers_of(index.node(made), "axes");
    const GraphIndex::Value given = index.input(made, 1);
    const std::vector<std::int64_t> axes = attribute                    ? *attribute
                                           : given != GraphIndex::kNone ? index.integers(given)
                                                                        : std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != static_cast<std::int64_t>(i) + 1) {
        return GraphIndex::kNone;
      }
    }
    other = axes.empty() ? GraphIndex::kNone : index.input(made, 0);
  }
  const Tensor* tensor = index.tensor(other);
  if (tensor == nullptr || tensor->dims.size() < (unsqueezed ? 1U : 2U)) {
    return GraphIndex::kNone;
  }
  for (std::size_t i = 1; i < tensor->dims.size(); ++i) {
    if (tensor->dims[i] != 1) {
      return GraphIndex::kNone;
    }
  }
  return other;
}

// Instance norm between two Reshapes, and what follows: the scale, then the shift.
struct Chain {
  GraphIndex::Value x = GraphIndex::kNone;
  std::int64_t groups = 0;
  std::vector<NodeId> nodes;
  GraphIndex::Value scale = GraphIndex::kNone;
  GraphIndex::Value shift = GraphIndex::kNone;

  NodeId after() const { return nodes[2]; }
};

std::optional<Chain> chain_at(const GraphIndex& index, NodeId node) {
  if (!index.is(node, "InstanceNormalization") || index.node(node).inputs.size() != 3 ||
      !index.all(index.input(node, 1), 1) || !index.all(index.input(node, 2), 0)) {
    return std::nullopt;
  }
  const NodeId before = index.maker(index.input(node, 0));
  const NodeId after = only_reader(index, index.output(node), "Reshape");
  const auto groups = groups_of(index, before);
  if (!groups || after == GraphIndex::kNone) {
    return std::nullopt;
  }
  Chain chain{.x = index.input(before, 0), .groups = *groups, .nodes = {before, node, after}};
  const NodeId mul = only_reader(index, index.output(after), "Mul");
  chain.scale = mul == GraphIndex::kNone ? mul : per_channel(index, mul, index.output(after));
  if (chain.scale != GraphIndex::kNone) {
    chain.nodes.push_back(mul);
    const NodeId add = only_reader(index, index.output(mul), "Add");
    chain.shift = add == GraphIndex::kNone ? add : per_channel(index, add, index.output(mul));
    if (chain.shift != GraphIndex::kNone) {
      chain.nodes.push_back(add);
    }
  }
  while (chain.nodes.size() > 3 && !index.closed(chain.nodes, chain.nodes.back())) {
    (chain.nodes.size() == 5 ? chain.shift : chain.scale) = GraphIndex::kNone;
    chain.nodes.pop_back();
  }
  return index.closed(chain.nodes, chain.nodes.back()) ? std::optional(chain) : std::nullopt;
}

// Whether the second Reshape goes back to the shape of x.
bool goes_back(const GraphIndex& index, const Chain& chain) {
  const NodeId shape = index.maker(index.input(chain.after(), 1));
  return shape != GraphIndex::kNone && index.is(shape, "Shape") &&
         index.same(index.input(shape, 0), chain.x) && index.node(shape).find("end") == nullptr &&
         integer_of(index.node(shape), "start", 0) == 0;
}

// Whether the second Reshape goes to as many channels as the scale has, a multiple of the groups: then x may
// get that shape first.
bool goes_to_channels(const GraphIndex& index, const Chain& chain) {
  if (chain.scale == GraphIndex::kNone) {
    return false;
  }
  const std::int64_t channels = index.tensor(chain.scale)->dims.front();
  const std::vector<std::int64_t> sizes = index.integers(index.input(chain.after(), 1));
  return sizes.size() >= 3 && sizes[1] == channels && channels % chain.groups == 0;
}

}  // namespace

bool recognise_group_norm(GraphIndex& index, GraphIndex::NodeId node) {
  const auto chain = chain_at(index, node);
  if (!chain) {
    return false;
  }
  std::vector<NodeId> members = chain->nodes;
  std::array<GraphIndex::Value, 3> inputs{chain->x, chain->scale, chain->shift};
  Attribute groups;
  groups.name = "groups";
  groups.i = chain->groups;
  Attribute epsilon;
  epsilon.name = "epsilon";
  epsilon.f = number_of(index.node(node), "epsilon", 1e-5F);
  if (!goes_back(index, *chain)) {
    if (!goes_to_channels(index, *chain)) {
      return false;
    }
    const NodeId reshape = chain->after();
    const std::array<GraphIndex::Value, 2> reshaped{chain->x, index.input(reshape, 1)};
    index.replace(std::array{reshape}, reshape, "", "Reshape", reshaped, index.node(reshape).attributes);
    inputs[0] = index.output(reshape);
    std::erase(members, reshape);
  }
  index.replace(members, members.back(), "bench", "GroupNorm", inputs, {groups, epsilon});
  return true;
}

}  // namespace bench::kernels::onnx
