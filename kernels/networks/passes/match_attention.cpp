#include "kernels/networks/passes/match_attention.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/networks/graph/array_options.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;
using Run = View::Run;

constexpr float kHidden = -1e4F;  // scores below it have no weight

}  // namespace

AttentionMatcher::AttentionMatcher(const Graph& graph)
    : graph_(graph),
      readers_(graph.reader_counts()),
      plain_(views_of(graph, Factors::apart)),
      scaled_(views_of(graph, Factors::seen_through)) {
  reader_.resize(graph.nodes().size());
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    for (const Value input : graph[value].inputs) {
      reader_[input] = value;
    }
  }
}

std::optional<MatchedAttention> AttentionMatcher::find(Value softmax) const {
  const auto* const options = options_of<SoftmaxOptions>(graph_[softmax]);
  const Shape& shape = graph_[softmax].shape;
  if (options == nullptr || options->log || (shape.rank() != 3 && shape.rank() != 4) ||
      options->dimension.value_or(shape.rank() - 1) != shape.rank() - 1 || shape.is_flat()) {
    return std::nullopt;
  }
  MatchedAttention found;
  const auto first = first_product(softmax, found);
  const auto last = second_product(softmax);
  if (!first || !last) {
    return std::nullopt;
  }
  found.last = *last;
  const auto* const scores = options_of<MatmulOptions>(graph_[*first]);
  const auto* const mix = options_of<MatmulOptions>(graph_[*last]);
  found.scale *= static_cast<double>(scores->scale);
  found.scales_scores = found.scale != 1;
  const std::array swapped{scores->transpose_a, !scores->transpose_b, mix->transpose_b};
  const std::array values{graph_[*first].inputs[0], graph_[*first].inputs[1], graph_[*last].inputs[1]};
  for (std::size_t i = 0; i < values.size(); ++i) {
    found.operands.at(i) = {
        .value = values.at(i), .swapped = swapped.at(i), .view = (i < 2 ? scaled_ : plain_)[values.at(i)]};
    AttentionOperand& operand = found.operands.at(i);
    if (!split(operand)) {
      operand.view = whole(graph_, operand.value);
      if (!split(operand)) {
        return std::nullopt;
      }
    }
  }
  return fits(found) ? std::optional(found) : std::nullopt;
}

std::optional<HeadRows> AttentionMatcher::rows_of(const AttentionOperand& operand) const {
  const auto& [batch, heads, positions, features] = operand.dims;
  const Extent all = elements(graph_[operand.view.source].shape);
  const std::int64_t rows = batch.extent.size * positions.extent.size;
  if (!all.per_sample || all.size % rows != 0) {
    return std::nullopt;
  }
  HeadRows found{.source = operand.view.source, .width = all.size / rows, .at = operand.view.offset};
  const auto lies = [](const Run& run, std::optional<Extent> stride) {
    return run.extent == Extent(1) || run.stride == stride;
  };
  const std::int64_t head_size = features.extent.size;
  if (!lies(features, 1) || !lies(heads, head_size) || found.at < 0 ||
      found.at + heads.extent.size * head_size > found.width) {
    return std::nullopt;
  }
  if (lies(positions, found.width) && lies(batch, positions.extent.size * found.width)) {
    return found;
  }
  found.sequence_first = true;
  return lies(positions, product(batch.extent, found.width)) && lies(batch, found.width)
             ? std::optional(found)
             : std::nullopt;
}

bool AttentionMatcher::keeps_matrices(const Node& node) const {
  const Shape& from = graph_[node.inputs[0]].shape;
  const auto last = [](const Shape& shape, std::size_t i) { return shape[shape.rank() - i]; };
  return options_of<ReshapeOptions>(node) != nullptr && from.rank() >= 2 && node.shape.rank() >= 2 &&
         last(from, 1) == last(node.shape, 1) && last(from, 2) == last(node.shape, 2);
}

std::optional<Value> AttentionMatcher::first_product(Value softmax, MatchedAttention& found) const {
  Value at = graph_[softmax].inputs[0];
  while (is_read_once(at) && graph_[at].layer != nullptr) {
    const Node& node = graph_[at];
    if (options_of<MatmulOptions>(node) != nullptr) {
      return at;
    }
    std::optional<Value> next;
    if (keeps_matrices(node)) {
      next = node.inputs[0];
    } else if (const auto masked = unmasked(node, found)) {
      next = masked;
    } else if (!node.inputs.empty()) {
      next = unscaled(node, found);
    }
    if (!next) {
      return std::nullopt;
    }
    at = *next;
  }
  return std::nullopt;
}

std::optional<Value> AttentionMatcher::unscaled(const Node& node, MatchedAttention& found) const {
  const auto itself = static_cast<Value>(&node - graph_.nodes().data());
  for (const Value input : node.inputs) {
    const View& before = scaled_[input];
    const View& after = scaled_[itself];
    if (graph_[input].shape == node.shape && before.source == after.source && before.dims == after.dims &&
        before.offset == after.offset && before.factor != 0) {
      found.scale *= after.factor / before.factor;
      return input;
    }
  }
  return std::nullopt;
}

std::optional<Value> AttentionMatcher::unmasked(const Node& node, MatchedAttention& found) const {
  const auto* const pointwise = options_of<PointwiseOptions>(node);
  const bool adds = options_of<AddOptions>(node) != nullptr ||
                    (pointwise != nullptr && pointwise->function == PointwiseFunction::add);
  for (std::size_t i = 0; adds && i < 2; ++i) {
    const Value scores = node.inputs[1 - i];
    if (graph_[scores].shape == node.shape && is_mask(node.inputs[i], node.shape, found)) {
      return scores;
    }
  }
  if (pointwise == nullptr || pointwise->function != PointwiseFunction::where) {
    return std::nullopt;
  }
  for (const std::size_t scores : {1, 2}) {
    const auto other = constant_scalar(graph_, plain_[node.inputs[3 - scores]]);
    const bool shown_by_one = scores == 1;
    if (other && *other <= kHidden && graph_[node.inputs[scores]].shape == node.shape &&
        is_causal(node.inputs[0], node.shape,
                  [&](float value, bool hidden) { return (value != 0) == (hidden != shown_by_one); })) {
      found.causal = true;
      return node.inputs[scores];
    }
  }
  return std::nullopt;
}

template <class IsRight>
bool AttentionMatcher::is_causal(Value mask, const Shape& scores, const IsRight& is_right) const {
  const View& view = plain_[mask];
  const std::span<const float> values = constant_values(graph_, view);
  const std::int64_t size = scores[scores.rank() - 1].size;
  if (values.empty() || view.dims.size() < 2 || scores[scores.rank() - 2] != Extent(size)) {
    return false;
  }
  const std::span<const View::Dim> dims = view.dims;
  const auto rows = single(dims[dims.size() - 2]);
  const auto columns = single(dims.back());
  const auto repeated = [](const View::Dim& dim) {
    return std::ranges::all_of(dim, [](const Run& run) { return run.stride == Extent(0); });
  };
  if (!std::ranges::all_of(dims.first(dims.size() - 2), repeated) || !rows || !columns ||
      rows->extent != Extent(size) || columns->extent != Extent(size)) {
    return false;
  }
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::int64_t j = 0; j < size; ++j) {
      const std::int64_t at = view.offset + i * rows->stride.size + j * columns->stride.size;
      if (!is_right(values[static_cast<std::size_t>(at)], j > i)) {
        return false;
      }
    }
  }
  return true;
}

bool AttentionMatcher::is_mask(Value mask, const Shape& scores, MatchedAttention& found) const {
  if (constant_scalar(graph_, plain_[mask]) == 0.0F) {
    return true;
  }
  const bool causal = is_causal(
      mask, scores, [](float value, bool hidden) { return hidden ? value <= kHidden : value == 0; });
  found.causal = found.causal || causal;
  return causal;
}

std::optional<Value> AttentionMatcher::second_product(Value softmax) const {
  Value at = softmax;
  while (is_read_once(at) && at != graph_.output()) {
    const Value reader = reader_[at];
    const Node& node = graph_[reader];
    if (const auto* const options = options_of<MatmulOptions>(node)) {
      const bool is_it = node.inputs[0] == at && !options->transpose_a && options->scale == 1.0F;
      return is_it ? std::optional(reader) : std::nullopt;
    }
    if (!keeps_matrices(node)) {
      return std::nullopt;
    }
    at = reader;
  }
  return std::nullopt;
}

bool AttentionMatcher::split(AttentionOperand& operand) {
  std::vector<View::Dim> dims = operand.view.dims;
  if (dims.size() == 3) {
    const View::Dim both = dims[0];
    const auto together = single(both);
    const std::int64_t heads = together ? together->extent.size : 1;
    const auto stride = together ? product(together->stride, heads) : std::nullopt;
    if (stride) {
      dims[0] = {{heads, together->stride}};
      dims.insert(dims.begin(), {{{together->extent.per_sample ? kBatch : Extent(1), *stride}}});
    } else if (both.size() == 2) {
      dims[0] = {both[1]};
      dims.insert(dims.begin(), {{both[0]}});
    }
  }
  if (dims.size() != 4) {
    return false;
  }
  if (operand.swapped) {
    std::swap(dims[2], dims[3]);
  }
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto run = single(dims[d]);
    if (!run || run->extent.per_sample != (d == 0)) {
      return false;
    }
    operand.dims.at(d) = *run;
  }
  return true;
}

bool AttentionMatcher::fits(MatchedAttention& found) const {
  const auto& [q, k, v] = found.operands;
  for (std::size_t d = 0; d < 2; ++d) {
    if (q.dims.at(d).extent != k.dims.at(d).extent || q.dims.at(d).extent != v.dims.at(d).extent) {
      return false;
    }
  }
  // HeadRows that a factor was taken out of are read as they are; others with their factor.
  for (const std::size_t i : {0, 1}) {
    found.scale *= rows_of(found.operands.at(i)) ? found.operands.at(i).view.factor : 1;
  }
  return q.dims[3].extent == k.dims[3].extent && q.dims[3].extent == v.dims[3].extent &&
         k.dims[2].extent == v.dims[2].extent && found.scale > 0 &&
         (!found.causal || q.dims[2].extent == k.dims[2].extent);
}

}  // namespace bench::kernels
