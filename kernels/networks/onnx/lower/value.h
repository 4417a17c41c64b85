// Meaning of a name in the file: a known value, a weight, or the result of a layer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

using Layers = bench::kernels::Graph;

struct Value;

// A value that is another one with a border of constants.
struct Padded {
  std::shared_ptr<const Value> of;
  std::vector<std::int64_t> before, behind;  // by dimensions
  double border = 0;
};

struct Value {
  std::string name{};  // in the file
  ElementType type = ElementType::f32;
  Shape shape{};
  std::shared_ptr<const Constant> constant{};
  // A weight, by the name that it is drawn by: an initializer's, or that of the value which would be computed
  // from weights. Empty: no weight.
  std::string parameter{};
  bool transposed = false;  // the transpose of that initializer's matrix
  bool computed = false;    // of other weights: drawn instead
  bool trained = true;
  // A layer whose result has the elements in order, maybe in another shape.
  std::optional<Layers::Value> layer{};
  std::shared_ptr<const Padded> padded{};
  // A list of values; then it has nothing else but a name.
  std::shared_ptr<const std::vector<Value>> sequence{};

  bool is_known() const { return constant != nullptr && parameter.empty(); }
  bool is_weight() const { return !parameter.empty(); }
  bool has_batch() const { return shape.batch_dimension().has_value(); }
};

Extents extents_of(const Shape& shape);
// Throws Refused beyond six dimensions.
Shape shape_of(const Extents& dims);

}  // namespace bench::kernels::onnx
