// Options of the layers for values of any rank, whose dimensions are counted from the outermost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/shape.h"
#include "kernels/operations/pointwise/pointwise.h"
#include "kernels/operations/reduce/reduce.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {

// The same elements in their order as another shape: nothing is computed where they lie in that order.
struct ReshapeOptions {
  Shape shape;
};

// The result's dimension d is the input's dimension order[d].
struct TransposeOptions {
  std::vector<std::size_t> order;
};

// Elements start, start + step, … of one dimension, `size` of them; step may be negative. Not of the batch.
struct SliceOptions {
  std::size_t dimension = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t size = 1;
};

// So many elements before and after those of each dimension; not of the batch.
struct PadOptions {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> behind;
  StridedCopy::Outside outside = StridedCopy::Outside::value;
  float value = 0;
};

// Repeated along dimensions that it lacks or where it has one element, as NumPy broadcasts, to this shape.
struct ExpandOptions {
  Shape shape;
};

// A function of two inputs, `where` of three, which are repeated to a common shape as NumPy broadcasts. Two
// summands of one shape are rather an AddOptions, which fuses.
struct PointwiseOptions {
  PointwiseFunction function = PointwiseFunction::add;
};

// Joins the elements along some dimensions, which keep one element or are left out.
struct ReduceOptions {
  ReduceFunction function = ReduceFunction::mean;
  std::vector<std::size_t> dimensions;
  bool keep_dims = true;
};

// A value that is a parameter: a table, a token, a factor of each channel. It reads nothing.
struct ParameterOptions {
  Shape shape;  // does not depend on the batch
  bool trained = true;
  // Its values; empty: drawn from the seed by the layer's name.
  std::vector<float> values{};
  Uniform start{};
};

// A further input beside the first, with values of its own for each sample: a cache, a state. It reads
// nothing.
struct InputOptions {
  Shape shape;  // the batch outermost
};

}  // namespace bench::kernels
