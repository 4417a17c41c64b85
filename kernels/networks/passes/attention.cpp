#include "kernels/networks/passes/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/views.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;
using Run = View::Run;

constexpr float kHidden = -1e4F;  // scores below it have no weight
constexpr Extent kOne = 1;

// Queries, keys or values as [batch, heads, positions, features].
struct Operand {
  Value value = 0;       // what the product reads
  bool swapped = false;  // its last two dimensions
  View view;             // into what it was made of
  std::array<Run, 4> dims{};
};

struct Found {
  Value last = 0;  // the second product
  std::array<Operand, 3> operands;
  bool causal = false;
  double scale = 1;
};

// The rows of a value that hold a head's features side by side.
struct Rows {
  Value source = 0;
  bool sequence_first = false;  // before the batch
  std::int64_t width = 0;       // of a row
  std::int64_t at = 0;          // where in it the first head begins
};

Extent elements(const Shape& shape) {
  Extent all = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    all = {all.size * shape[d].size, all.per_sample || shape[d].per_sample};
  }
  return all;
}

class Finder {
 public:
  explicit Finder(const Graph& graph)
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

  std::optional<Found> find(Value softmax) const {
    const auto* const options = options_of<SoftmaxOptions>(graph_[softmax]);
    const Shape& shape = graph_[softmax].shape;
    if (options == nullptr || options->log || (shape.rank() != 3 && shape.rank() != 4) ||
        options->dimension.value_or(shape.rank() - 1) != shape.rank() - 1 || shape.is_flat()) {
      return std::nullopt;
    }
    Found found;
    const auto first = first_product(softmax, found);
    const auto last = second_product(softmax);
    if (!first || !last) {
      return std::nullopt;
    }
    found.last = *last;
    const auto* const scores = options_of<MatmulOptions>(graph_[*first]);
    const auto* const mix = options_of<MatmulOptions>(graph_[*last]);
    found.scale *= static_cast<double>(scores->scale);
    const std::array swapped{scores->transpose_a, !scores->transpose_b, mix->transpose_b};
    const std::array values{graph_[*first].inputs[0], graph_[*first].inputs[1], graph_[*last].inputs[1]};
    for (std::size_t i = 0; i < values.size(); ++i) {
      found.operands.at(i) = {
          .value = values.at(i), .swapped = swapped.at(i), .view = (i < 2 ? scaled_ : plain_)[values.at(i)]};
      Operand& operand = found.operands.at(i);
      if (!split(operand)) {
        operand.view = whole(graph_, operand.value);
        if (!split(operand)) {
          return std::nullopt;
        }
      }
    }
    return fits(found) ? std::optional(found) : std::nullopt;
  }

  // Whether the operand lies in rows of what it was made of.
  std::optional<Rows> rows_of(const Operand& operand) const {
    const auto& [batch, heads, positions, features] = operand.dims;
    const Extent all = elements(graph_[operand.view.source].shape);
    const std::int64_t rows = batch.extent.size * positions.extent.size;
    if (!all.per_sample || all.size % rows != 0) {
      return std::nullopt;
    }
    Rows found{.source = operand.view.source, .width = all.size / rows, .at = operand.view.offset};
    const auto lies = [](const Run& run, std::optional<Extent> stride) {
      return run.extent == kOne || run.stride == stride;
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

 private:
  bool is_read_once(Value value) const { return readers_[value] == 1; }

  // Whether a reshape leaves the matrices of the last two dimensions as they are.
  bool keeps_matrices(const Node& node) const {
    const Shape& from = graph_[node.inputs[0]].shape;
    const auto last = [](const Shape& shape, std::size_t i) { return shape[shape.rank() - i]; };
    return options_of<ReshapeOptions>(node) != nullptr && from.rank() >= 2 && node.shape.rank() >= 2 &&
           last(from, 1) == last(node.shape, 1) && last(from, 2) == last(node.shape, 2);
  }

  // The product that the softmax reads, by way of scales and masks.
  std::optional<Value> first_product(Value softmax, Found& found) const {
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

  std::optional<Value> unscaled(const Node& node, Found& found) const {
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

  // What a mask is added to, or is chosen from.
  std::optional<Value> unmasked(const Node& node, Found& found) const {
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

  bool is_mask(Value mask, const Shape& scores, Found& found) const {
    if (constant_scalar(graph_, plain_[mask]) == 0.0F) {
      return true;
    }
    const bool causal = is_causal(
        mask, scores, [](float value, bool hidden) { return hidden ? value <= kHidden : value == 0; });
    found.causal = found.causal || causal;
    return causal;
  }

  // Whether it is a constant square, the same for all heads and samples, each of whose elements is as it
  // should be where it hides a later position, and where it does not.
  template <class IsRight>
  bool is_causal(Value mask, const Shape& scores, const IsRight& is_right) const {
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

  // The product of what the softmax makes with the values.
  std::optional<Value> second_product(Value softmax) const {
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

  // The view's dimensions in order. Where batch and heads are one, the heads are inside.
  static bool split(Operand& operand) {
    std::vector<View::Dim> dims = operand.view.dims;
    if (dims.size() == 3) {
      const View::Dim both = dims[0];
      const auto together = single(both);
      const std::int64_t heads = together ? together->extent.size : 1;
      const auto stride = together ? product(together->stride, heads) : std::nullopt;
      if (stride) {
        dims[0] = {{heads, together->stride}};
        dims.insert(dims.begin(), {{{together->extent.per_sample ? kBatch : kOne, *stride}}});
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

  bool fits(Found& found) const {
    const auto& [q, k, v] = found.operands;
    for (std::size_t d = 0; d < 2; ++d) {
      if (q.dims.at(d).extent != k.dims.at(d).extent || q.dims.at(d).extent != v.dims.at(d).extent) {
        return false;
      }
    }
    // Rows that a factor was taken out of are read as they are; others with their factor.
    for (const std::size_t i : {0, 1}) {
      found.scale *= rows_of(found.operands.at(i)) ? found.operands.at(i).view.factor : 1;
    }
    return q.dims[3].extent == k.dims[3].extent && q.dims[3].extent == v.dims[3].extent &&
           k.dims[2].extent == v.dims[2].extent && found.scale > 0 &&
           (!found.causal || q.dims[2].extent == k.dims[2].extent);
  }

  const Graph& graph_;
  std::vector<int> readers_;
  std::vector<Value> reader_;  // the last one
  std::vector<View> plain_, scaled_;
};

class Writer {
 public:
  Writer(const Graph& graph, const Finder& finder, const std::map<Value, Found>& all)
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
  Value rows(const Operand& operand, const Rows& wanted) {
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
  Value input(const Operand& operand) {
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

  // Whether all three lie one behind the other in the same rows.
  bool is_packed(const Found& found) const {
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

  Value write(const Found& found) {
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
      for (const Operand& operand : found.operands) {
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
  const Finder& finder_;
  Graph written_;
  std::vector<Value> place_;                                     // old node → new node
  std::map<std::tuple<Value, bool, std::int64_t>, Value> rows_;  // by positions too
};

// Copies of a result that only move its elements, straight from it: heads that are put side by side again are
// in its order already. Leaves out what nobody reads.
class Straightener {
 public:
  explicit Straightener(const Graph& graph)
      : old_(graph), views_(views_of(graph, Factors::apart)), made_(graph.input_only()) {}

  Graph run() && {
    std::vector<std::optional<Plan>> plans(old_.nodes().size());
    std::vector<bool> needed(old_.nodes().size(), false);
    needed[old_.output()] = true;
    for (Value value = old_.output(); value > 0; --value) {
      if (!needed[value]) {
        continue;
      }
      plans[value] = plan(value);
      for (const Value input : plans[value] ? std::vector<Value>{views_[value].source} : old_[value].inputs) {
        needed[input] = true;
      }
      if (old_[value].shares) {
        needed[*old_[value].shares] = true;
      }
    }
    std::vector<Value> place(old_.nodes().size(), 0);
    for (Value value = 1; value < old_.nodes().size(); ++value) {
      if (!needed[value]) {
        continue;
      }
      Node node = old_[value];
      std::ranges::transform(node.inputs, node.inputs.begin(), [&](Value input) { return place[input]; });
      node.shares = node.shares ? std::optional(place[*node.shares]) : std::nullopt;
      place[value] = plans[value] ? write(node, place[views_[value].source], *plans[value])
                                  : made_.append(std::move(node));
    }
    return std::move(made_);
  }

 private:
  // The source in these dimensions, which go into this order.
  struct Plan {
    Shape shape;
    std::vector<std::size_t> order;
  };

  // How the value is made straight from attention's result, where that takes fewer copies.
  std::optional<Plan> plan(Value value) const {
    const View& view = views_[value];
    if (view.source == value || !old_[view.source].is("attention") || view.offset != 0) {
      return std::nullopt;
    }
    int transposes = 0;
    int layers = 0;
    for (Value at = value; at != view.source; at = old_[at].inputs[0]) {
      transposes += old_[at].is("transpose") ? 1 : 0;
      ++layers;
    }
    const std::vector<Run> dims = view.merged();
    std::vector<std::size_t> by_stride;  // the outermost in memory first
    for (std::size_t d = 0; d < dims.size(); ++d) {
      by_stride.push_back(d);
    }
    const auto size = [&](std::size_t d) {
      return std::pair(dims[d].stride.per_sample, dims[d].stride.size);
    };
    std::ranges::sort(by_stride, [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    Plan plan;
    plan.order.resize(dims.size());
    Extent below = 1;
    for (std::size_t i = by_stride.size(); i-- > 0;) {
      const Run& run = dims[by_stride[i]];
      const auto next = product(below, run.extent);
      if (run.stride != below || !next) {
        return std::nullopt;
      }
      below = *next;
      plan.order[by_stride[i]] = i;
    }
    if (dims.size() > Shape::kMostDims || below != elements(old_[view.source].shape)) {
      return std::nullopt;
    }
    for (const std::size_t d : by_stride) {
      plan.shape.append(dims[d].extent);
    }
    const bool in_order = std::ranges::is_sorted(plan.order);
    return (in_order && layers > 1) || transposes > 1 ? std::optional(plan) : std::nullopt;
  }

  Value reshape(const std::string& name, Value x, const Shape& shape) {
    return made_[x].shape == shape ? x : made_.append(name, {x}, ReshapeOptions{.shape = shape});
  }

  Value write(const Node& node, Value source, const Plan& plan) {
    if (std::ranges::is_sorted(plan.order)) {
      return reshape(node.name, source, node.shape);
    }
    Value made = reshape(node.name, source, plan.shape);
    made = made_.append(node.name, {made}, TransposeOptions{.order = plan.order});
    return reshape(node.name, made, node.shape);
  }

  const Graph& old_;
  std::vector<View> views_;
  Graph made_;
};

}  // namespace

Graph with_attention(const Graph& graph) {
  const bool has_softmax = std::ranges::any_of(graph.nodes(), [](const Node& n) { return n.is("softmax"); });
  if (!has_softmax) {
    return graph;
  }
  const Finder finder(graph);
  std::map<Value, Found> all;
  for (Value value = 1; value < graph.nodes().size(); ++value) {
    if (const auto found = finder.find(value)) {
      all.emplace(found->last, *found);
    }
  }
  if (all.empty()) {
    return graph;
  }
  const Graph written = Writer(graph, finder, all).graph();
  return Straightener(written).run();
}

}  // namespace bench::kernels
