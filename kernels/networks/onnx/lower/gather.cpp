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

void lower_embedding(Lowering& node) {
  const Value& table = node.in(0);
  const Value& tokens = node.in(1);
  if (table.shape.rank() != 2 || node.axis(0) != 0 || table.has_batch() || table.layer) {
    throw Refused("a table that is not a weight");
  }
  const Shape shape = tokens.shape;
  const Shape& all = node.all.graph[node.all.graph.image()].shape;
  const bool swapped = shape != all && shape == Shape{all[1], all[0]};
  if (!swapped && shape.elements() != all.elements()) {
    throw Refused(fmt::format("tokens of {} where the input has {}", shape.text(), all.text()));
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
  const Layers::Value made = node.all.append(layer_name(rows.parameter), {node.all.graph.image()}, options);
  if (const auto owner = node.all.owner(rows.parameter, "table")) {
    node.all.graph.edit(made).shares = owner;
  } else {
    node.all.own(rows.parameter, "table", made);
  }
  node.all.sources.push_back({.initializer = rows.parameter, .layer = made, .slot = Slot::weights});
  Extents dims = extents_of(shape);
  dims.emplace_back(options.width);
  if (swapped) {
    return node.set(node.append({made}, TransposeOptions{.order = {1, 0, 2}}));
  }
  node.set(made, shape_of(dims));
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

// The index of an element along a dimension, where an operator counts from its end too. Throws Refused.
std::int64_t place_in(std::int64_t index, const Extent& extent) {
  const std::int64_t place = index < 0 ? index + extent.size : index;
  if (place < 0 || place >= extent.size) {
    throw Refused(fmt::format("index {} of a dimension of {}", index, extent.size));
  }
  return place;
}

// Gathers along the dimension that the batch multiplies. The indices grow from sample to sample, or each
// sample has other ones.
void gather_within_samples(Lowering& node, const Constant& indices) {
  const Shape shape = node.shape(0);
  const std::int64_t each = shape[0].size;
  if (!shape[0].per_sample || node.axis(0) != 0 || indices.dims.empty() || indices.dims.front() != kBatch ||
      shape.rank() == Shape::kMostDims) {
    throw Refused("it picks samples of the batch");
  }
  // Indices that count must reach the next sample's rows, those that do not are of the file's only sample.
  if (indices.counts_samples() ? indices.sample_step != static_cast<double>(each)
                               : node.all.file_batch != 1 || node.all.batch_is_free) {
    throw Refused("it takes elements of one sample for another");
  }
  Shape apart{kBatch, each};
  for (std::size_t d = 1; d < shape.rank(); ++d) {
    apart.append(shape[d]);
  }
  Extents result = indices.dims;
  for (std::size_t d = 1; d < shape.rank(); ++d) {
    result.push_back(shape[d]);
  }
  GatherOptions options{.dimension = 1, .indices = {}};
  bool in_order = true;
  for (const std::int64_t place : indices.wholes()) {
    if (place < 0 || place >= each) {
      throw Refused("it takes elements of one sample for another");
    }
    in_order &= place == static_cast<std::int64_t>(options.indices.size());
    options.indices.push_back(static_cast<std::int32_t>(place));
  }
  if (in_order && static_cast<std::int64_t>(options.indices.size()) == each) {
    return node.set(node.elements(0), shape_of(result));
  }
  const Layers::Value made = node.append({node.all.reshaped(node.elements(0), apart)}, options);
  node.set(made, shape_of(result));
}

// Elements of a dimension, as a slice where they are one.
Layers::Value take(Lowering& node, Layers::Value from, std::size_t dimension,
                   const std::vector<std::int64_t>& places) {
  if (const auto slice = as_slice(places, dimension)) {
    const bool whole =
        slice->start == 0 && slice->step == 1 && slice->size == node.all.graph[from].shape[dimension].size;
    return whole ? from : node.append({from}, *slice);
  }
  GatherOptions options{.dimension = dimension, .indices = {}};
  for (const std::int64_t place : places) {
    options.indices.push_back(static_cast<std::int32_t>(place));
  }
  return node.append({from}, options);
}

void lower_gather(Lowering& node) {
  const Value& indices = node.in(1);
  if (node.all.is_tokens(indices)) {
    return lower_embedding(node);
  }
  if (indices.constant == nullptr) {
    throw Refused("its indices depend on data");
  }
  const std::size_t axis = node.axis(0);
  const Shape shape = node.shape(0);
  const Extent& along = shape[axis];
  if (along.per_sample) {
    return gather_within_samples(node, *indices.constant);
  }
  std::vector<std::int64_t> places = indices.constant->wholes();
  for (std::int64_t& place : places) {
    place = place_in(place, along);
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
  // Where the indices are the same for every sample, the rows are taken once, then repeated.
  const Layers::Value in = node.all.layer(node.in(0), Uniform{0, 1});
  const Layers::Value made = take(node, in, axis, places);
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

// Flattens the dimensions from `first` to the last into one, and gathers its elements by index.
Layers::Value gather_places(Lowering& node, std::size_t first, const std::vector<std::int64_t>& places) {
  const Shape shape = node.shape(0);
  Shape flat;
  std::int64_t rest = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (d < first) {
      flat.append(shape[d]);
    } else {
      if (shape[d].per_sample) {
        throw Refused("it takes elements of a dimension of the batch");
      }
      rest *= shape[d].size;
    }
  }
  flat.append(rest);
  GatherOptions options{.dimension = first, .indices = {}};
  for (const std::int64_t place : places) {
    options.indices.push_back(static_cast<std::int32_t>(place));
  }
  return node.append({node.all.reshaped(node.elements(0), flat)}, options);
}

// An element for each index, at its place in all dimensions but one. The leading dimensions along which the
// indices are alike stay as they are.
void lower_gather_elements(Lowering& node) {
  const Constant& indices = node.known(1, "its indices");
  const Shape shape = node.shape(0);
  const std::size_t axis = node.axis(0);
  const Extents& dims = indices.dims;
  if (dims.size() != shape.rank()) {
    throw Refused("indices of another number of dimensions");
  }
  const std::vector<std::int64_t> steps = steps_of(dims);
  const std::int64_t count = indices.elements();
  const auto alike_along = [&](std::size_t d) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (indices.value(i) != indices.value(i - i / steps[d] % dims[d].size * steps[d])) {
        return false;
      }
    }
    return true;
  };
  std::size_t first = 0;
  while (first < axis && dims[first].size == shape[first].size && alike_along(first)) {
    ++first;
  }
  const std::vector<std::int64_t> own = steps_of(extents_of(shape));
  const std::int64_t each = first == 0 ? count : steps[first - 1];
  node.all.budget.take(each);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < each; ++i) {
    std::int64_t place = 0;
    for (std::size_t d = first; d < dims.size(); ++d) {
      const std::int64_t index = d == axis ? to_whole(indices.value(i)) : i / steps[d] % dims[d].size;
      place += place_in(index, shape[d]) * own[d];
    }
    places.push_back(place);
  }
  Extents result = dims;
  for (std::size_t d = 0; d < first; ++d) {
    result[d] = shape[d];
  }
  const Layers::Value made = gather_places(node, first, places);
  node.set(made, shape_of(result));
}

// Takes the elements at some places of each sample, by indices whose first is the sample's number.
void lower_gather_nd(Lowering& node) {
  const Constant& indices = node.known(1, "its indices");
  const Shape shape = node.shape(0);
  if (integer_of(node.node, "batch_dims", 0) != 0 || indices.dims.size() < 2 || shape.rank() < 2 ||
      shape[0] != kBatch || indices.sample_step != 1 || indices.dims.front() != kBatch) {
    throw Refused("indices of another kind than a place in each sample");
  }
  const std::int64_t depth = indices.dims.back().size;
  if (depth < 2 || depth > static_cast<std::int64_t>(shape.rank())) {
    throw Refused("indices of another kind than a place in each sample");
  }
  const std::vector<std::int64_t> own = steps_of(extents_of(shape));
  const std::int64_t inner = own[static_cast<std::size_t>(depth) - 1];
  std::vector<std::int64_t> places;
  node.all.budget.take(indices.elements() / depth * inner);
  for (std::int64_t i = 0; i < indices.elements(); i += depth) {
    std::int64_t place = 0;
    for (std::int64_t d = 1; d < depth; ++d) {
      const auto dimension = static_cast<std::size_t>(d);
      place += place_in(to_whole(indices.value(i + d)), shape[dimension]) * own[dimension];
    }
    for (std::int64_t j = 0; j < inner; ++j) {
      places.push_back(place + j);
    }
  }
  Extents result(indices.dims.begin(), indices.dims.end() - 1);
  for (auto d = static_cast<std::size_t>(depth); d < shape.rank(); ++d) {
    result.push_back(shape[d]);
  }
  const Layers::Value made = gather_places(node, 1, places);
  node.set(made, shape_of(result));
}

// OneHot whose values the file holds as a weight.
void lower_one_hot(Lowering& node) {
  for (const std::size_t input : {0, 1, 2}) {
    node.known(input, "its indices and values");
  }
  node.set(registry<ConstantOperator>().find("OneHot")->evaluate(node.evaluation()).front());
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Gather", lower_gather},
    {"GatherElements", lower_gather_elements},
    {"OneHot", lower_one_hot},
    {"GatherND", lower_gather_nd},
};

}  // namespace
}  // namespace bench::kernels::onnx
