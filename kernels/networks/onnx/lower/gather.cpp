// Lookups: rows of a table by token ids, and elements of a dimension by indices that are known.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels::onnx {
namespace {

bool is_tokens(const Lowering& node, const Value& value) {
  return value.layer && *value.layer == node.all.graph.image() && node.all.graph.tokens().has_value();
}

void lower_embedding(Lowering& node) {
  const Value& table = node.in(0);
  const Value& tokens = node.in(1);
  if (table.shape.rank() != 2 || node.axis(0) != 0 || table.has_batch() || table.layer) {
    throw Refused("a table that is not a weight");
  }
  if (tokens.shape != node.all.graph[node.all.graph.image()].shape) {
    throw Refused(fmt::format("tokens of {}", tokens.shape.text()));
  }
  const WeightInput rows = weights(node, 0, "its table");
  if (rows.transposed) {
    throw Refused("a table that is transposed");
  }
  EmbeddingOptions options;
  options.rows = rows.shape[0].size;
  options.width = rows.shape[1].size;
  if (options.rows < node.all.graph.tokens()->vocabulary) {
    throw Refused(fmt::format("a table of {} rows for {} token ids", options.rows,
                              node.all.graph.tokens()->vocabulary));
  }
  const Layers::Value made =
      node.all.append(layer_name(rows.parameter), {node.all.graph.image()}, options);
  if (const auto owner = node.all.owner(rows.parameter, "table")) {
    node.all.graph.edit(made).shares = owner;
  } else {
    node.all.own(rows.parameter, "table", made);
  }
  node.all.sources.push_back({.initializer = rows.parameter, .layer = made, .slot = Slot::weights});
  node.set(made);
}

// Indices start, start + step, …, as a slice takes them.
std::optional<SliceOptions> as_slice(const std::vector<std::int64_t>& indices, std::size_t dimension) {
  const std::int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (std::size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != step) {
      return std::nullopt;
    }
  }
  return step == 0 ? std::nullopt
                   : std::optional(SliceOptions{.dimension = dimension,
                                                .start = indices.front(),
                                                .step = step,
                                                .size = static_cast<std::int64_t>(indices.size())});
}

void lower_gather(Lowering& node) {
  const Value& indices = node.in(1);
  if (is_tokens(node, indices)) {
    return lower_embedding(node);
  }
  if (indices.constant == nullptr) {
    throw Refused("its indices depend on data");
  }
  const std::size_t axis = node.axis(0);
  const Shape shape = node.shape(0);
  const Extent& along = shape[axis];
  // The batch's own index is the same for every sample.
  if (along.per_sample) {
    throw Refused("it takes one sample of a batch");
  }
  std::vector<std::int64_t> places = indices.constant->wholes();
  for (std::int64_t& place : places) {
    place += place < 0 ? along.size : 0;
    if (place < 0 || place >= along.size) {
      throw Refused(fmt::format("index {} of a dimension of {}", place, along.size));
    }
  }
  if (places.empty()) {
    throw Refused("it takes nothing");
  }
  Extents result;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (d == axis) {
      result.insert(result.end(), indices.constant->dims.begin(), indices.constant->dims.end());
    } else {
      result.push_back(shape[d]);
    }
  }
  // Of indices that are alike for every sample the rows are taken once, and then repeated.
  const Layers::Value in = node.all.layer(node.in(0), Uniform{0, 1});
  Layers::Value made = in;
  if (const auto slice = as_slice(places, axis)) {
    const bool whole = slice->start == 0 && slice->step == 1 && slice->size == along.size;
    made = whole ? in : node.append({in}, *slice);
  } else {
    GatherOptions options{.dimension = axis, .indices = {}};
    for (const std::int64_t place : places) {
      options.indices.push_back(static_cast<std::int32_t>(place));
    }
    made = node.append({in}, options);
  }
  const Shape taken = shape_of(result);
  const auto batch = taken.batch_dimension();
  if (!batch || shape.batch_dimension()) {
    if (batch && std::ranges::count(result, true, &Extent::per_sample) > 1) {
      throw Refused("it takes elements of one sample for each other");
    }
    return node.set(made, taken);
  }
  // Repeated for each sample.
  Extents once = result;
  once[*batch].per_sample = false;
  if (once[*batch].size != 1) {
    throw Refused("its indices have several rows for each sample");
  }
  const Layers::Value rows = node.all.reshaped(made, shape_of(once));
  node.set(node.append({rows}, ExpandOptions{.shape = taken}));
}

const Registration<Lowered> gather{{"Gather", lower_gather}};

}  // namespace
}  // namespace bench::kernels::onnx
