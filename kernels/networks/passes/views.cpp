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
using Run = View::Run;

constexpr Extent kOne = 1;

// Whether the one goes into the other without a rest.
bool divides(const Extent& part, const Extent& all) {
  return all.size % part.size == 0 && (all.per_sample || !part.per_sample);
}
Extent quotient(const Extent& all, const Extent& part) {
  return {all.size / part.size, all.per_sample && !part.per_sample};
}

// Cut from the last dimension on; nothing where that cuts a run unevenly.
std::optional<View> reshaped(const View& view, const Shape& to) {
  std::vector<Run> left = view.merged();
  View made = view;
  made.dims.assign(to.rank(), {});
  for (std::size_t d = to.rank(); d-- > 0;) {
    Extent wanted = to[d];
    while (wanted != kOne) {
      if (left.empty()) {
        return std::nullopt;
      }
      Run& from = left.back();
      if (divides(from.extent, wanted)) {
        made.dims[d].insert(made.dims[d].begin(), from);
        wanted = quotient(wanted, from.extent);
        left.pop_back();
        continue;
      }
      const auto next = product(from.stride, wanted);
      if (!divides(wanted, from.extent) || !next) {
        return std::nullopt;
      }
      made.dims[d].insert(made.dims[d].begin(), {wanted, from.stride});
      from = {quotient(from.extent, wanted), *next};
      wanted = kOne;
    }
  }
  return left.empty() ? std::optional(made) : std::nullopt;
}

std::optional<View> sliced(View view, std::size_t dimension, std::int64_t start, std::int64_t step,
                           std::int64_t size) {
  const auto from = single(view.dims[dimension]);
  if (!from || (start != 0 && from->stride.per_sample)) {
    return std::nullopt;
  }
  view.offset += start * from->stride.size;
  view.dims[dimension].clear();
  if (size > 1) {
    view.dims[dimension] = {{size, Extent(from->stride.size * step, from->stride.per_sample)}};
  }
  return view;
}

std::optional<View> gathered(const View& view, const GatherOptions& options) {
  const auto along = single(view.dims[options.dimension]);
  if (!along) {
    return std::nullopt;
  }
  const std::int64_t extent = along->extent.size;
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

View expanded(const View& view, const Shape& from, const Shape& to) {
  View made = view;
  made.dims.clear();
  for (std::size_t d = 0; d < to.rank(); ++d) {
    const std::size_t lacking = to.rank() - from.rank();
    const bool repeated = d < lacking || from[d - lacking] != to[d];
    made.dims.push_back(!repeated ? view.dims[d - lacking] : to[d] == kOne ? Dim{} : Dim{{to[d], 0}});
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

std::optional<View> moved(const Graph& graph, const View& from, const Node& node) {
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
    return expanded(from, graph[node.inputs[0]].shape, expand->shape);
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

std::vector<View::Run> View::merged() const {
  std::vector<Run> all;
  for (const Dim& dim : dims) {
    for (const Run& run : dim) {
      const bool behind = !all.empty() && product(run.stride, run.extent) == all.back().stride;
      const auto both = behind ? product(all.back().extent, run.extent) : std::nullopt;
      if (both) {
        all.back() = {*both, run.stride};
      } else {
        all.push_back(run);
      }
    }
  }
  return all;
}

std::optional<View::Run> single(const View::Dim& dim) {
  if (dim.size() > 1) {
    return std::nullopt;
  }
  return dim.empty() ? View::Run{} : dim.front();
}

View whole(const Graph& graph, Value value) {
  View view{.source = value, .offset = 0, .dims = {}};
  const Shape& shape = graph[value].shape;
  view.dims.resize(shape.rank());
  Extent stride = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    if (shape[d] != kOne) {
      view.dims[d] = {{shape[d], stride}};
    }
    stride = product(stride, shape[d]).value();
  }
  return view;
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
      view = moved(graph, views[node.inputs[0]], node);
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

Extent elements(const Shape& shape) {
  Extent all = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    all = {all.size * shape[d].size, all.per_sample || shape[d].per_sample};
  }
  return all;
}

}  // namespace bench::kernels
