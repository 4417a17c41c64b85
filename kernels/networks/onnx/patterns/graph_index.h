// A graph's nodes and values by number: who makes a value, who reads it, which constant it is. Groups of
// nodes are found with it and replaced in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

class GraphIndex {
 public:
  using NodeId = std::size_t;  // its place in the graph
  using Value = std::size_t;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Scalar {
    double value = 0;
    bool half = false;  // rounded to fp16 or bf16
  };

  explicit GraphIndex(Graph& graph);

  std::size_t size() const { return graph_.nodes.size(); }
  bool alive(NodeId id) const { return places_[id].alive; }
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  // Whether it is ONNX's own operator of this name.
  bool is(NodeId id, std::string_view op) const;
  // kNone where the node has no such input.
  Value input(NodeId id, std::size_t which) const;
  // kNone where the node has none.
  Value output(NodeId id) const;

  // kNone has the entry of a value that no node makes or reads.
  const std::string& name(Value value) const { return entry(value).name; }
  // kNone for inputs and initializers.
  NodeId maker(Value value) const { return entry(value).maker; }
  // Nodes that read it, also some that were replaced.
  std::span<const NodeId> readers(Value value) const { return entry(value).readers; }
  // The value before conversions between float types and Identity.
  Value root(Value value) const { return entry(value).root; }
  bool is_converted(Value value) const { return root(value) != value; }
  bool same(Value a, Value b) const { return a != kNone && root(a) == root(b); }
  std::optional<std::size_t> rank(Value value) const { return entry(value).rank; }

  // An initializer, or what a Constant node holds as a tensor; nullptr for everything else.
  const Tensor* tensor(Value value) const { return entry(root(value)).tensor; }
  // A constant with one element and at most one dimension, where the file has the element.
  std::optional<Scalar> scalar(Value value) const { return entry(value).scalar; }
  // Elements of a constant of integers; empty where the file does not have them.
  std::vector<std::int64_t> integers(Value value) const;
  // Whether the file has the elements of a constant tensor, and every one is `expected`.
  bool all(Value value, double expected) const;
  // Whether the node is a ReduceMean over the last dimension only, which it keeps with size 1.
  bool is_mean_of_last(NodeId id) const;

  // Whether nobody else reads what the members make, but for what `last` makes.
  bool closed(std::span<const NodeId> members, NodeId last) const;
  // Puts `replacement`, which gets the name and outputs of `last`, in the place of `last`, and removes the
  // other members. `inputs` may end in kNone.
  void replace(std::span<const NodeId> members, NodeId last, std::string_view domain, std::string_view op,
               std::span<const Value> inputs, std::vector<Attribute> attributes);
  // Removes replaced nodes from the graph; the index may not be used after that.
  void finish();

 private:
  struct Place {
    std::vector<Value> inputs;  // kNone: not given
    std::vector<Value> outputs;
    bool alive = true;
  };
  struct ValueEntry {
    std::string name;
    NodeId maker = kNone;
    std::vector<NodeId> readers;
    std::size_t reads = 0;  // by nodes that are alive
    bool kept = false;      // an output of the network, or read by a nested graph
    Value root = kNone;
    const Tensor* tensor = nullptr;
    std::optional<Scalar> scalar;
    std::optional<std::size_t> rank;
  };

  const ValueEntry& entry(Value value) const { return value == kNone ? nothing_ : values_[value]; }
  Value number(const std::string& name);
  void add_node(NodeId id);
  void find_root(NodeId id);
  void find_scalar(NodeId id);
  void keep_nested_reads();
  void keep(const std::string& name);
  void remove(NodeId first);
  // The inputs are read once less; returns makers of values that nobody reads any more.
  std::vector<NodeId> release(const std::vector<Value>& inputs);

  Graph& graph_;
  std::unordered_map<std::string, Value> numbers_;
  std::vector<Place> places_;
  std::vector<ValueEntry> values_;
  ValueEntry nothing_;
};

}  // namespace bench::kernels::onnx
