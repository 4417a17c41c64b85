#include "kernels/networks/onnx/lower/batch_apart.h"

#include <algorithm>

#include "kernels/networks/graph/array_options.h"

namespace bench::kernels::onnx {

std::optional<std::size_t> meeting(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    const auto batch = shape.batch_dimension();
    if (!batch || shape[*batch].size == 1) {
      continue;
    }
    const std::size_t from_end = shape.rank() - 1 - *batch;
    const auto meets = [&](const Shape& other) {
      const Extent extent = from_end < other.rank() ? other[other.rank() - 1 - from_end] : Extent(1);
      return extent != Extent(1) && extent != shape[*batch];
    };
    if (std::ranges::any_of(shapes, meets)) {
      return from_end;
    }
  }
  return std::nullopt;
}

Shape apart(const Shape& shape, std::size_t from_end) {
  if (from_end >= shape.rank()) {
    return shape;
  }
  Extents dims = extents_of(shape);
  const auto at = dims.end() - 1 - static_cast<std::ptrdiff_t>(from_end);
  const Extent batch{1, at->per_sample};
  at->per_sample = false;
  dims.insert(at, batch);
  return shape_of(dims);
}

Value apart(Importing& network, const Value& value, std::size_t from_end) {
  Value made = value;
  if (made.transposed) {  // a shape is that of a matrix only
    made.layer = network.layer(value);
    made.transposed = false;
  }
  made.shape = apart(value.shape, from_end);
  return made;
}

Layers::Value sliced(Lowering& node, Layers::Value from, const Sliced& part) {
  SliceOptions options{.dimension = part.dimension,
                       .start = part.start,
                       .step = part.size == 1 ? 1 : part.step,
                       .size = part.size};
  Shape shape = node.all.graph[from].shape;
  if (!shape[part.dimension].per_sample) {
    return node.append({from}, options);
  }
  node.all.assume_of("A part of each sample is taken, not of the batch, by {}.", node.name());
  ++options.dimension;
  const Layers::Value whole = node.all.reshaped(from, apart(shape, shape.rank() - 1 - part.dimension));
  shape[part.dimension].size = part.size;
  return node.all.reshaped(node.append({whole}, options), shape);
}

}  // namespace bench::kernels::onnx
