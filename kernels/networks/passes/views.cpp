#include "kernels/networks/passes/views.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/networks/graph/array_options.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;
using Dim = View::Dim;

constexpr Extent kOne = 1;

View whole(const Graph& graph, Value value) {
  View view{.source = value, .offset = 0, .dims = {}};
  const Shape& shape = graph[value].shape;
  view.dims.resize(shape.rank());
  Extent stride = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    view.dims[d] = {shape[d], shape[d] == kOne ? Extent(0) : stride};
    stride = product(stride, shape[d]).value();
  }
  return view;
}

// Cut from the last dimension on; nothing where elements of one dimension do not lie at one distance.
std::optional<View> reshaped(const View& view, const Shape& to) {
  std::vector<Dim> left = view.merged();
  View made = view;
  made.dims.assign(to.rank(), {});
  for (std::size_t d = to.rank(); d-- > 0;) {
    if (to[d] == kOne) {
      made.dims[d] = {kOne, 0};
      continue;
    }
    while (!left.empty() && left.back().extent == kOne) {
      left.pop_back();
    }
    if (left.empty() || left.back().extent.size % to[d].size != 0 ||
        (to[d].per_sample && !left.back().extent.per_sample)) {
      return std::nullopt;
    }
    Dim& from = left.back();
    made.dims[d] = {to[d], from.stride};
    from.extent = {from.extent.size / to[d].size, from.extent.per_sample && !to[d].per_sample};
    const auto next = product(from.stride, to[d]);
    if (from.extent != kOne && !next) {
      return std::nullopt;
    }
    from.stride = next.value_or(0);
  }
  const auto is_used = [](const Dim& dim) { return dim.extent == kOne; };
  return std::ranges::all_of(left, is_used) ? std::optional(made) : std::nullopt;
}

std::optional<View> sliced(View view, std::size_t dimension, std::int64_t start, std::int64_t step,
                           std::int64_t size) {
  Dim& dim = view.dims[dimension];
  if (start != 0 && dim.stride.per_sample) {
    return std::nullopt;
  }
  view.offset += start * dim.stride.size;
  dim.extent = size;
  dim.stride = size == 1 ? Extent(0) : Extent(dim.stride.size * step, dim.stride.per_sample);
  return view;
}

std::optional<View> gathered(const View& view, const GatherOptions& options) {
  const std::int64_t extent = view.dims[options.dimension].extent.size;
  const auto at = [&](std::size_t i) {
    const std::int64_t index = options.indices[i];
    return index < 0 ? index + extent : index;
  };
  const std::size_t count = options.indices.size();
  const std::int64_t step = count > 1 ? at(1) - at(0) : 1;
  for (std::size_t i = 1; i < count; ++i) {
    if (at(i) != at(i - 1) + step) {
      return std::nullopt;
    }
  }
  return sliced(view, options.dimension, at(0), step, static_cast<std::int64_t>(count));
}

View expanded(const View& view, const Shape& to) {
  View made = view;
  made.dims.clear();
  for (std::size_t d = 0; d < to.rank(); ++d) {
    const std::size_t lacking = to.rank() - view.dims.size();
    const bool repeated = d < lacking || view.dims[d - lacking].extent != to[d];
    made.dims.push_back({to[d], repeated ? Extent(0) : view.dims[d - lacking].stride});
  }
  return made;
}

// The input that a product with a constant multiplies, and by how much.
std::optional<std::pair<Value, double>> scaled(const Graph& graph, const std::vector<View>& plain,
                                               const Node& node) {
  if (const auto* const activation = options_of<ActivationOptions>(node)) {
    const Activation& function = activation->activation;
    const bool is_product = function.kind == ActivationKind::linear && function.beta == 0;
    return is_product ? std::optional(std::pair(node.inputs[0], static_cast<double>(function.alpha)))
                      : std::nullopt;
  }
  const auto* const pointwise = options_of<PointwiseOptions>(node);
  const bool multiplies = pointwise != nullptr && pointwise->function == PointwiseFunction::multiply;
  const bool divides = pointwise != nullptr && pointwise->function == PointwiseFunction::divide;
  for (const std::size_t constant : {1, 0}) {
    if (!(multiplies || (divides && constant == 1)) || graph[node.inputs[1 - constant]].shape != node.shape) {
      continue;
    }
    const auto by = constant_scalar(graph, plain[node.inputs[constant]]);
    if (by && *by != 0) {
      const double factor = divides ? 1 / static_cast<double>(*by) : static_cast<double>(*by);
      return std::pair(node.inputs[1 - constant], factor);
    }
  }
  return std::nullopt;
}

std::optional<View> moved(const View& from, const Node& node) {
  if (const auto* const reshape = options_of<ReshapeOptions>(node)) {
    return reshaped(from, reshape->shape);
  }
  if (const auto* const transpose = options_of<TransposeOptions>(node)) {
    View view = from;
    std::ranges::transform(transpose->order, view.dims.begin(),
                           [&](std::size_t dimension) { return from.dims[dimension]; });
    return view;
  }
  if (const auto* const slice = options_of<SliceOptions>(node)) {
    return sliced(from, slice->dimension, slice->start, slice->step, slice->size);
  }
  if (const auto* const gather = options_of<GatherOptions>(node)) {
    return gathered(from, *gather);
  }
  if (const auto* const expand = options_of<ExpandOptions>(node)) {
    return expanded(from, expand->shape);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Extent> product(const Extent& a, const Extent& b) {
  if (a.size == 0 || b.size == 0) {
    return Extent(0);
  }
  if (a.per_sample && b.per_sample) {
    return std::nullopt;
  }
  return Extent(a.size * b.size, a.per_sample || b.per_sample);
}

std::vector<Dim> View::merged() const {
  std::vector<Dim> all;
  for (const Dim& dim : dims) {
    if (dim.extent == kOne) {
      continue;
    }
    if (!all.empty() && product(dim.stride, dim.extent) == all.back().stride &&
        product(all.back().extent, dim.extent)) {
      all.back() = {*product(all.back().extent, dim.extent), dim.stride};
    } else {
      all.push_back(dim);
    }
  }
  return all;
}

std::span<const float> constant_values(const Graph& graph, const View& view) {
  const auto* const parameter = options_of<ParameterOptions>(graph[view.source]);
  return parameter == nullptr || parameter->trained ? std::span<const float>() : std::span(parameter->values);
}

std::optional<float> constant_scalar(const Graph& graph, const View& view) {
  const std::span<const float> values = constant_values(graph, view);
  const bool alike = !values.empty() && std::ranges::all_of(values, [&](float v) { return v == values[0]; });
  return alike ? std::optional(values[0]) : std::nullopt;
}

std::vector<View> views_of(const Graph& graph, Factors factors) {
  std::vector<View> views;
  const std::vector<View> plain =
      factors == Factors::seen_through ? views_of(graph, Factors::apart) : std::vector<View>{};
  for (Value value = 0; value < graph.nodes().size(); ++value) {
    const Node& node = graph[value];
    std::optional<View> view;
    if (!node.inputs.empty()) {
      view = moved(views[node.inputs[0]], node);
    }
    if (!view && factors == Factors::seen_through && !node.inputs.empty()) {
      if (const auto product = scaled(graph, plain, node)) {
        view = views[product->first];
        view->factor *= product->second;
      }
    }
    views.push_back(view.value_or(whole(graph, value)));
  }
  return views;
}

}  // namespace bench::kernels
