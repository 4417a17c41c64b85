// Fusing: see inference.h.
#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/networks/passes/attention.h"
#include "kernels/networks/passes/inference.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : old_(graph), readers_(graph.reader_counts()), fused_(graph.input_only()) {}

  Graph run() && {
    place_.assign(old_.nodes().size(), 0);
    for (Value value = 1; value < old_.nodes().size(); ++value) {
      const auto taken = fuse(value);
      place_[value] = taken ? *taken : copy(old_[value]);
    }
    return std::move(fused_);
  }

 private:
  Value copy(Node node) {
    std::ranges::transform(node.inputs, node.inputs.begin(), [this](Value input) { return place_[input]; });
    if (node.shares) {
      node.shares = place_[*node.shares];
    }
    return fused_.append(std::move(node));
  }

  // The new node that computes the old one as well.
  std::optional<Value> fuse(Value value) {
    const Node& node = old_[value];
    const auto epilogue = node.layer->epilogue(old_.place(value));
    if (!epilogue) {
      return std::nullopt;
    }
    Value taker = node.inputs[0];
    if (!std::holds_alternative<FoldedSum>(*epilogue)) {
      return take(taker, *epilogue) ? std::optional(place_[taker]) : std::nullopt;
    }
    // The layer must come after the other operand, which it reads: only the later one can take the sum.
    Value other = node.inputs[1];
    if (place_[taker] < place_[other]) {
      std::swap(taker, other);
    }
    if (place_[taker] == place_[other] || !take(taker, *epilogue)) {
      return std::nullopt;
    }
    fused_.edit(place_[taker]).inputs.push_back(place_[other]);
    return place_[taker];
  }

  // Whether an old layer that has a single reader takes that reader over. One that shares its weights does
  // not: its operation has them as they are.
  bool take(Value value, const Epilogue& epilogue) {
    Node& node = fused_.edit(place_[value]);
    if (readers_[value] != 1 || node.layer == nullptr || node.shares) {
      return false;
    }
    const std::shared_ptr<Layer> changed = node.layer->clone();
    if (!changed->take(epilogue)) {
      return false;
    }
    node.layer = changed;
    return true;
  }

  const Graph& old_;
  std::vector<int> readers_;
  Graph fused_;
  std::vector<Value> place_;  // old node → new node
};

}  // namespace

Graph fuse_for_inference(const Graph& graph) {
  const Graph attentive = with_attention(graph);
  return Fuser(attentive).run();
}

}  // namespace bench::kernels
