// Trilu and CumSum on data: a triangle of a matrix is its product, element by element, with ones and zeros;
// running sums are a matrix product with a triangle of ones.
#include <algorithm>
#include <utility>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::onnx {
namespace {

// 1 at row i and column j where j − i is at least `shift`, or where at most.
Value ones(Lowering& node, std::int64_t rows, std::int64_t columns, std::int64_t shift, bool upper) {
  const Extents dims{rows, columns};
  node.all.budget.take(elements_of(dims));
  Constant triangle{.type = ElementType::f32, .dims = dims, .values = {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      triangle.append({(upper ? j - i >= shift : j - i <= shift) ? 1.0 : 0.0, 0});
    }
  }
  return node.value(std::move(triangle));
}

void lower_triangle(Lowering& node) {
  const Shape shape = node.shape(0);
  const std::size_t rank = shape.rank();
  if (rank < 2) {
    throw Refused("a triangle of fewer than two dimensions");
  }
  if (shape[rank - 1].per_sample || shape[rank - 2].per_sample) {
    throw Refused("a triangle over the samples of a batch");
  }
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  const std::int64_t shift = node.has(1) ? std::clamp(node.known(1, "its diagonal").whole(), -kFar, kFar) : 0;
  const bool upper = integer_of(node.node, "upper", 1) != 0;
  const Value made =
      joined(node, PointwiseFunction::multiply,
             {node.in(0), ones(node, shape[rank - 2].size, shape[rank - 1].size, shift, upper)});
  node.set(*made.layer, made.shape);
}

// Element j is the sum of the elements up to j.
void lower_running_sum(Lowering& node) {
  const Shape shape = node.shape(0);
  const std::size_t axis = axis_of(node.known(1, "its dimension").whole(), shape.rank());
  if (shape[axis].per_sample) {
    throw Refused("it would join the samples of a batch");
  }
  const bool exclusive = integer_of(node.node, "exclusive", 0) != 0;
  const bool reversed = integer_of(node.node, "reverse", 0) != 0;
  TransposeOptions turned{.order = {}};
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    turned.order.push_back(d);
  }
  std::swap(turned.order[axis], turned.order.back());
  const bool is_last = axis + 1 == shape.rank();
  Layers::Value values = node.layer(0);
  values = is_last ? values : node.append({values}, turned);
  const std::int64_t size = shape[axis].size;
  const std::int64_t shift = exclusive ? (reversed ? -1 : 1) : 0;
  const Layers::Value triangle = node.all.layer(ones(node, size, size, shift, !reversed));
  // As rows of a matrix.
  const Shape as_turned = node.all.graph[values].shape;
  Extent rows = 1;
  for (std::size_t d = 0; d + 1 < as_turned.rank(); ++d) {
    rows = {elements_of({rows.size, as_turned[d].size}), rows.per_sample || as_turned[d].per_sample};
  }
  const Layers::Value sums =
      node.append({node.all.reshaped(values, {rows, size}), triangle}, MatmulOptions{});
  const Layers::Value made = node.all.reshaped(sums, as_turned);
  node.set(is_last ? made : node.append({made}, turned));
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Trilu", lower_triangle},
    {"CumSum", lower_running_sum},
};

}  // namespace
}  // namespace bench::kernels::onnx
