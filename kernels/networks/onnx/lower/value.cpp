#include "kernels/networks/onnx/lower/value.h"

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {

Extents extents_of(const Shape& shape) {
  Extents dims;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    dims.push_back(shape[d]);
  }
  return dims;
}

Shape shape_of(const Extents& dims) {
  if (dims.size() > Shape::kMostDims) {
    throw Refused(
        fmt::format("a value of {} dimensions; at most {} are accepted", dims.size(), Shape::kMostDims));
  }
  elements_of(dims);
  Shape shape;
  for (const Extent& extent : dims) {
    shape.append(extent);
  }
  return shape;
}

}  // namespace bench::kernels::onnx
