// Options of the layers for values of any rank, whose dimensions are counted from the outermost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/graph/shape.h"
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

// So many elements before and behind those of each dimension; not of the batch.
struct PadOptions {
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> behind;
  StridedCopy::Outside outside = StridedCopy::Outside::value;
  float value = 0;
};

}  // namespace bench::kernels
