// ScatterND and ScatterElements at known indices: each element of the result is one of the value or one of
// the updates. Where the places are a block of the value, the rest is joined around it.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/lower/batch_apart.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels::onnx {
namespace {

// The places of a value's elements; within each sample where the value has a batch.
struct Places {
  Shape shape;            // of the value
  std::size_t first = 0;  // dimension within a sample
  std::vector<std::int64_t> steps;

  explicit Places(const Lowering& node) : shape(node.shape(0)), steps(steps_of(extents_of(shape))) {
    if (text_of(node.node, "reduction", "none") != "none") {
      throw Refused("updates that are joined with what is there");
    }
    first = shape.batch_dimension() ? 1 : 0;
    if (first == 1 && (shape[0] != kBatch || !shape.is_fixed_from(1))) {
      throw Refused(fmt::format("it writes to places of {}", shape.text()));
    }
  }
  std::int64_t elements() const { return shape.elements(); }
  // The offset of an index along a dimension; a negative one counts from the end.
  std::int64_t place(std::size_t dimension, double index) const {
    const std::int64_t size = shape[dimension].size;
    const std::int64_t given = to_whole(index);
    const std::int64_t at = given < 0 ? given + size : given;
    if (at < 0 || at >= size) {
      throw Refused(fmt::format("index {} of a dimension of {}", given, size));
    }
    return at * steps[dimension];
  }
};

// The input as one row of elements for each sample.
Layers::Value row(Lowering& node, std::size_t input, bool of_samples) {
  const Value& value = node.in(input);
  const std::int64_t count = value.shape.elements();
  if (!of_samples || value.has_batch()) {
    return node.all.reshaped(node.all.elements(value), {of_samples ? kBatch : Extent(1), count});
  }
  const Layers::Value once = node.all.reshaped(node.all.layer(value), {1, count});
  return node.append({once}, ExpandOptions{.shape = {kBatch, count}});
}

// Update number i goes to written[i]; the last one stays.
void scatter(Lowering& node, const Places& places, std::size_t updates,
             const std::vector<std::int64_t>& written) {
  const Shape& update = node.shape(updates);
  const bool of_samples = places.first == 1;
  if ((update.batch_dimension() && (!of_samples || !update[0].per_sample)) ||
      update.elements() != static_cast<std::int64_t>(written.size())) {
    throw Refused("updates of another size than their places");
  }
  const std::int64_t count = places.elements();
  node.all.budget.take(elements_of({count}));
  if (count + static_cast<std::int64_t>(written.size()) > (std::int64_t{1} << 30)) {
    throw Refused("a value of more elements than can be");
  }
  GatherOptions options{.dimension = 1,
                        .indices = std::vector<std::int32_t>(static_cast<std::size_t>(count))};
  std::iota(options.indices.begin(), options.indices.end(), 0);
  for (std::size_t i = 0; i < written.size(); ++i) {
    options.indices[static_cast<std::size_t>(written[i])] =
        static_cast<std::int32_t>(count + static_cast<std::int64_t>(i));
  }
  const Layers::Value both =
      node.append({row(node, 0, of_samples), row(node, updates, of_samples)}, ConcatOptions{.dimension = 1});
  node.set(node.append({both}, options), places.shape);
}

// Token ids that the network moves, as a decoder that shifts its input, are read as they are.
bool shifts_tokens(Lowering& node) {
  for (const std::size_t input : {0, 2}) {
    if (node.all.is_tokens(node.in(input))) {
      node.all.assume("Token ids that the network shifts are read unshifted.");
      node.set(node.all.graph.image(), node.shape(0));
      return true;
    }
  }
  return false;
}

// Whether the first index of each row is the sample's own number, or that of the file's only sample.
bool numbers_samples(const Lowering& node, const Constant& indices, std::int64_t depth) {
  if (indices.counts_samples()) {
    return indices.sample_step == 1 && indices.dims.front() == kBatch;
  }
  for (std::int64_t i = 0; i < indices.elements(); i += depth) {
    if (indices.value(i) != 0) {
      return false;
    }
  }
  return node.all.file_batch == 1;
}

// Slices, at the place that a row of indices says.
void lower_scatter_nd(Lowering& node) {
  if (shifts_tokens(node)) {
    return;
  }
  const Constant& indices = node.known(1, "its indices");
  const Places places(node);
  const std::int64_t depth = indices.dims.empty() ? 0 : indices.dims.back().size;
  if (depth <= static_cast<std::int64_t>(places.first) || indices.dims.back().per_sample ||
      depth > static_cast<std::int64_t>(places.shape.rank()) ||
      (places.first == 1 ? !numbers_samples(node, indices, depth) : indices.counts_samples())) {
    throw Refused("indices of another kind than a place in each sample");
  }
  const std::int64_t inner = places.steps[static_cast<std::size_t>(depth) - 1];
  const std::int64_t slices = indices.elements() / depth;
  node.all.budget.take(elements_of({slices, inner}));
  std::vector<std::int64_t> written;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t at = 0;
    for (auto d = static_cast<std::int64_t>(places.first); d < depth; ++d) {
      at += places.place(static_cast<std::size_t>(d), indices.value(slice * depth + d));
    }
    for (std::int64_t i = 0; i < inner; ++i) {
      written.push_back(at + i);
    }
  }
  scatter(node, places, 2, written);
}

// Indices along one dimension, as they lie in the grid of all places.
struct GridIndices {
  const Constant* constant = nullptr;
  std::vector<std::int64_t> steps;  // 0 where they are repeated

  GridIndices(const Constant& indices, std::size_t rank) : constant(&indices), steps(rank, 0) {
    const std::size_t missing = rank - indices.dims.size();
    const std::vector<std::int64_t> own = steps_of(indices.dims);
    for (std::size_t d = 0; d < indices.dims.size(); ++d) {
      steps[missing + d] = indices.dims[d].size == 1 ? 0 : own[d];
    }
  }
  // Where they are consecutive along one dimension of the grid and alike along all others.
  std::optional<std::int64_t> start(const Places& places, std::size_t dimension, std::size_t along,
                                    std::int64_t count) const {
    for (std::size_t d = 0; d < steps.size(); ++d) {
      if (d != along && steps[d] != 0) {
        return std::nullopt;
      }
    }
    const std::int64_t step = places.steps[dimension];
    const std::int64_t first = places.place(dimension, constant->value(0)) / step;
    for (std::int64_t i = 1; i < count; ++i) {
      if (places.place(dimension, constant->value(i * steps[along])) / step != first + i) {
        return std::nullopt;
      }
    }
    return first;
  }
};

// The value with the updates in the place of a block, which begins at `starts` in the dimensions from
// places.first on. False where they are no block.
bool write_block(Lowering& node, const Places& places, const std::vector<GridIndices>& grid,
                 const Extents& dims) {
  const Shape& updates = node.shape(1);
  if (dims.size() != grid.size() || updates.rank() != places.shape.rank() ||
      (places.first == 1 && updates[0] != kBatch)) {
    return false;
  }
  std::vector<std::int64_t> starts(places.shape.rank(), 0);
  for (std::size_t d = places.first; d < grid.size(); ++d) {
    const auto start = grid[d].start(places, d, d, dims[d].size);
    if (!start) {
      return false;
    }
    starts[d] = *start;
  }
  for (std::size_t d = grid.size(); d < places.shape.rank(); ++d) {
    if (updates[d] != places.shape[d]) {
      return false;
    }
  }
  Layers::Value made = node.layer(1);
  for (std::size_t d = grid.size(); d-- > places.first;) {
    const std::int64_t size = places.shape[d].size;
    const std::int64_t end = starts[d] + dims[d].size;
    // Outside the block in this dimension, inside it in the earlier ones.
    const auto outside = [&](std::int64_t from, std::int64_t count) {
      Layers::Value part =
          sliced(node, node.layer(0), {.dimension = d, .start = from, .step = 1, .size = count});
      for (std::size_t earlier = places.first; earlier < d; ++earlier) {
        if (dims[earlier] != places.shape[earlier]) {
          part =
              sliced(node, part,
                     {.dimension = earlier, .start = starts[earlier], .step = 1, .size = dims[earlier].size});
        }
      }
      return part;
    };
    std::vector<Layers::Value> parts;
    if (starts[d] > 0) {
      parts.push_back(outside(0, starts[d]));
    }
    parts.push_back(made);
    if (end < size) {
      parts.push_back(outside(end, size - end));
    }
    made = parts.size() == 1 ? made : node.append(parts, ConcatOptions{.dimension = d});
  }
  node.set(made, places.shape);
  return true;
}

void lower_scatter_grid(Lowering& node) {
  const Places places(node);
  const std::size_t depth = node.inputs() - 2;
  const std::size_t rank = places.shape.rank();
  const Extents updates = extents_of(node.shape(1));
  if (depth <= places.first || depth > rank || updates.size() < rank - depth) {
    throw Refused("indices of another kind than a place in each sample");
  }
  const Extents dims(updates.begin(), updates.end() - static_cast<std::ptrdiff_t>(rank - depth));
  std::vector<GridIndices> grid;
  for (std::size_t d = 0; d < depth; ++d) {
    const Constant& indices = node.known(d + 2, "its indices");
    if (indices.dims.size() > dims.size() ||
        elements_of(broadcast(indices.dims, dims)) != elements_of(dims) ||
        (places.first == 1 && d == 0 ? !numbers_samples(node, indices, 1) : indices.counts_samples())) {
      throw Refused("indices of another kind than a place in each sample");
    }
    grid.emplace_back(indices, dims.size());
  }
  if (elements_of(dims) == 0) {
    return node.same(0);
  }
  if (write_block(node, places, grid, dims)) {
    return;
  }
  const std::int64_t inner = places.steps[depth - 1];
  const std::int64_t slices = elements_of(dims);
  node.all.budget.take(elements_of({slices, inner}));
  std::vector<std::int64_t> written;
  std::vector<std::int64_t> index(dims.size(), 0);
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t at = 0;
    for (std::size_t d = places.first; d < depth; ++d) {
      at += places.place(d, grid[d].constant->value(std::inner_product(
                                index.begin(), index.end(), grid[d].steps.begin(), std::int64_t{0})));
    }
    for (std::int64_t i = 0; i < inner; ++i) {
      written.push_back(at + i);
    }
    for (std::size_t d = dims.size(); d > 0; --d) {
      index[d - 1] += 1;
      if (index[d - 1] < dims[d - 1].size) {
        break;
      }
      index[d - 1] = 0;
    }
  }
  scatter(node, places, 1, written);
}

// An element for each index, at its place in all dimensions but one.
void lower_scatter_elements(Lowering& node) {
  const Constant& indices = node.known(1, "its indices");
  const Places places(node);
  const std::size_t axis = node.axis(0);
  const Extents& dims = indices.dims;
  const bool alike = !indices.counts_samples() && dims.size() == places.shape.rank();
  const bool in_samples = places.first == 0 || (alike && axis > 0 && dims[0].size == 1 &&
                                                (dims[0].per_sample || node.all.file_batch == 1));
  if (!alike || !in_samples) {
    throw Refused("indices of another kind than a place in each sample");
  }
  if (!std::ranges::equal(dims, extents_of(node.shape(2)), {}, &Extent::size, &Extent::size)) {
    throw Refused("updates of another size than their places");
  }
  const std::vector<std::int64_t> steps = steps_of(dims);
  const std::int64_t count = indices.elements();
  node.all.budget.take(count);
  std::vector<std::int64_t> written;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t d = places.first; d < dims.size(); ++d) {
      at += places.place(d, d == axis ? indices.value(i) : static_cast<double>(i / steps[d] % dims[d].size));
    }
    written.push_back(at);
  }
  scatter(node, places, 2, written);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"ScatterElements", lower_scatter_elements},
    {"bench.ScatterGrid", lower_scatter_grid},
    {"ScatterND", lower_scatter_nd},
};

}  // namespace
}  // namespace bench::kernels::onnx
