#include "kernels/networks/passes/attention.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/canonicalise.h"
#include "kernels/networks/passes/match_attention.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

class Writer {
 public:
  Writer(const Graph& graph, const AttentionMatcher& finder, const std::map<Value, MatchedAttention>& all)
      : old_(graph), finder_(finder), written_(graph.input_only()), place_(graph.nodes().size(), 0) {
    for (Value value = 1; value < graph.nodes().size(); ++value) {
      const auto found = all.find(value);
      place_[value] = found == all.end() ? copy(graph[value]) : write(found->second);
    }
  }

  Graph graph() && { return std::move(written_); }

 private:
  Value copy(Node node) {
    std::ranges::transform(node.inputs, node.inputs.begin(), [this](Value input) { return place_[input]; });
    if (node.shares) {
      node.shares = place_[*node.shares];
    }
    return written_.append(std::move(node));
  }

  Value reshape(const std::string& name, Value x, const Shape& shape) {
    return written_[x].shape == shape ? x : written_.append(name, {x}, ReshapeOptions{.shape = shape});
  }

  // All rows of a source as [batch, positions, width].
  Value rows(const AttentionOperand& operand, const HeadRows& wanted) {
    const std::int64_t count = operand.dims[2].extent.size;
    const auto [known, is_new] = rows_.try_emplace({wanted.source, wanted.sequence_first, count}, 0);
    if (!is_new) {
      return known->second;
    }
    const std::string name = old_[wanted.source].name + " rows";
    const Extent batch = operand.dims[0].extent;
    const Extent positions = operand.dims[2].extent;
    Value made = place_[wanted.source];
    if (wanted.sequence_first) {
      made = reshape(name, made, {positions, batch, wanted.width});
      made = written_.append(name, {made}, TransposeOptions{.order = {1, 0, 2}});
    } else {
      made = reshape(name, made, {batch, positions, wanted.width});
    }
    known->second = made;
    return made;
  }

  // One operand as [batch, positions, width].
  Value input(const AttentionOperand& operand) {
    const Extent batch = operand.dims[0].extent;
    const std::int64_t heads = operand.dims[1].extent.size;
    const Extent positions = operand.dims[2].extent;
    const Extent features = operand.dims[3].extent;
    if (const auto in_rows = finder_.rows_of(operand)) {
      const Value made = rows(operand, *in_rows);
      const std::int64_t width = heads * features.size;
      return in_rows->width == width
                 ? made
                 : written_.append(
                       old_[operand.value].name + " rows", {made},
                       SliceOptions{.dimension = 2, .start = in_rows->at, .step = 1, .size = width});
    }
    const std::string name = old_[operand.value].name + " heads";
    Shape by_head{batch, heads, positions, features};
    if (operand.swapped) {
      std::swap(by_head[2], by_head[3]);
    }
    Value made = reshape(name, place_[operand.value], by_head);
    made = written_.append(name, {made},
                           TransposeOptions{.order = operand.swapped ? std::vector<std::size_t>{0, 3, 1, 2}
                                                                     : std::vector<std::size_t>{0, 2, 1, 3}});
    return reshape(name, made, {batch, positions, heads * features.size});
  }

  // Whether all three lie one after the other in the same rows.
  bool is_packed(const MatchedAttention& found) const {
    const auto& [batch, heads, positions, features] = found.operands[0].dims;
    const std::int64_t width = heads.extent.size * features.extent.size;
    const auto first = finder_.rows_of(found.operands[0]);
    for (std::size_t i = 0; i < found.operands.size(); ++i) {
      const auto own = finder_.rows_of(found.operands.at(i));
      if (!own || !first || own->source != first->source || own->sequence_first != first->sequence_first ||
          own->width != 3 * width || own->at != static_cast<std::int64_t>(i) * width) {
        return false;
      }
    }
    return found.operands[1].dims[2].extent == positions.extent;
  }

  Value write(const MatchedAttention& found) {
    const auto& [batch, heads, positions, features] = found.operands[0].dims;
    const double usual = 1 / std::sqrt(static_cast<double>(features.extent.size));
    const bool is_usual = std::abs(found.scale / usual - 1) < 1e-6;
    const AttentionOptions options{.heads = heads.extent.size,
                                   .causal = found.causal,
                                   .scale = is_usual ? 0 : static_cast<float>(found.scale)};
    std::vector<Value> inputs;
    if (is_packed(found)) {
      inputs = {rows(found.operands[0], *finder_.rows_of(found.operands[0]))};
    } else {
      for (const AttentionOperand& operand : found.operands) {
        inputs.push_back(input(operand));
      }
    }
    const std::string& name = old_[found.last].name;
    Value made = written_.append(name, inputs, options);
    made = reshape(name + " heads", made, {batch.extent, positions.extent, heads.extent, features.extent});
    made = written_.append(name + " heads", {made}, TransposeOptions{.order = {0, 2, 1, 3}});
    return reshape(name + " heads", made, old_[found.last].shape);
  }

  const Graph& old_;
  const AttentionMatcher& finder_;
  Graph written_;
  std::vector<Value> place_;                                     // old node → new node
  std::map<std::tuple<Value, bool, std::int64_t>, Value> rows_;  // by positions too
};

bool has_softmax(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.is("softmax"); });
}

// By the second product.
std::map<Value, MatchedAttention> all_attention(const Graph& graph, const AttentionMatcher& finder) {
  std::map<Value, MatchedAttention> all;
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    if (const auto found = finder.find(value)) {
      all.emplace(found->last, *found);
    }
  }
  return all;
}

}  // namespace

Graph with_attention(const Graph& graph) {
  if (!has_softmax(graph)) {
    return graph;
  }
  const AttentionMatcher finder(graph);
  const std::map<Value, MatchedAttention> all = all_attention(graph, finder);
  if (all.empty()) {
    return graph;
  }
  return canonicalised(Writer(graph, finder, all).graph());
}

bool scales_scores(const Graph& graph) {
  if (!has_softmax(graph)) {
    return false;
  }
  const std::map<Value, MatchedAttention> all = all_attention(graph, AttentionMatcher(graph));
  return !all.empty() &&
         std::ranges::all_of(all, [](const auto& found) { return found.second.scales_scores; });
}

}  // namespace bench::kernels
