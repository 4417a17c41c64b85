// Products with weights, and of two values.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/batch_apart.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::onnx {
namespace {

// A weight or a small constant of that many elements, one for each feature.
std::optional<WeightInput> bias_of(const Value& value, std::int64_t features) {
  const Shape& shape = value.shape;
  const bool vector = !value.layer && !value.has_batch() && shape.rank() > 0 &&
                      shape.elements() == features && shape[shape.rank() - 1].size == features;
  const bool weight =
      value.is_weight() ? !value.computed && !value.transposed : value.is_known() && is_float(value.type);
  return vector && weight
             ? std::optional(WeightInput{value.is_weight() ? value.parameter : value.name, shape})
             : std::nullopt;
}

// x · W, or x · Wᵀ where the weights are stored so, and a bias.
struct Product {
  WeightInput weights;
  bool rows_are_features = false;  // W is [features][inputs]
  std::optional<WeightInput> bias;
};

// A linear layer whose weights another one reads.
void store_plain(bench::kernels::Node& node) {
  if (const auto* const options =
          static_cast<const LinearOptions*>(node.layer->options(typeid(LinearOptions)))) {
    LinearOptions plain = *options;
    plain.plain = true;
    node.layer = layer_type(typeid(LinearOptions)).make(&plain);
  }
}

Layers::Value linear(Lowering& node, const Value& x, const Product& product) {
  Importing& all = node.all;
  const Shape& matrix = product.weights.shape;
  const std::int64_t features = matrix[product.rows_are_features ? 0 : 1].size;
  const std::int64_t inputs = matrix[product.rows_are_features ? 1 : 0].size;
  if (x.shape.rank() == 0 || x.shape[x.shape.rank() - 1] != Extent(inputs)) {
    throw Refused(fmt::format("rows of {} do not fit weights of {}", x.shape.text(), matrix.text()));
  }
  const Layers::Value rows = all.rows(x, true);
  const Layers::Value made = all.append(
      layer_name(product.weights.parameter), {rows},
      LinearOptions{.features = features, .bias = product.bias.has_value(), .rank = x.shape.rank()});
  // The layer's plain form is [features][inputs]; the initializer's is that of the file.
  const bool transposed = product.rows_are_features == product.weights.transposed;
  const std::string form = fmt::format("linear {} {}", transposed, matrix.text());
  const auto owner = all.owner(product.weights.parameter, form);
  const auto table = transposed ? std::nullopt : all.owner(product.weights.parameter, "table");
  if (owner || table) {
    if (!table) {
      store_plain(all.graph.edit(*owner));
    }
    all.graph.edit(made).shares = table ? table : owner;
  } else {
    all.own(product.weights.parameter, form, made);
  }
  all.sources.push_back({.initializer = product.weights.parameter,
                         .layer = made,
                         .slot = Slot::weights,
                         .transposed = transposed});
  if (product.bias) {
    all.sources.push_back({.initializer = product.bias->parameter, .layer = made, .slot = Slot::bias});
  }
  return made;
}

Shape with_features(const Shape& shape, std::int64_t features) {
  Shape result = shape;
  result[shape.rank() - 1].size = features;
  return result;
}

// A matrix of weights: one that is drawn and is not computed in the network.
bool is_matrix(const Value& value) {
  return value.shape.rank() == 2 && !value.has_batch() && is_float(value.type) &&
         (value.is_weight() || (value.is_known() && value.constant->elements() > 1));
}

// The summand that a following Add adds to each row; nullptr: none.
const Node* adds_bias(const Lowering& node, std::int64_t features, std::optional<WeightInput>& bias) {
  const Node* const next = node.all.index.sole_reader(node.node.outputs.front());
  if (next == nullptr || next->op != "Add" || !next->domain.empty() || next->inputs.size() != 2) {
    return nullptr;
  }
  const std::string& other = next->inputs[next->inputs[0] == node.node.outputs.front() ? 1 : 0];
  const Value* const summand = node.all.find(other);
  if (summand == nullptr) {
    return nullptr;
  }
  bias = bias_of(*summand, features);
  return bias && bias->shape.rank() <= node.rank(0) ? next : nullptr;
}

// An operand of a product of two values, as matrices.
Layers::Value matrices(Lowering& node, std::size_t input, std::size_t rank) {
  const Value& value = node.in(input);
  const Layers::Value layer = node.all.layer(value);
  if (value.shape.rank() >= rank) {
    return layer;
  }
  Shape shape;
  for (std::size_t d = value.shape.rank(); d < rank; ++d) {
    shape.append(1);
  }
  for (std::size_t d = 0; d < value.shape.rank(); ++d) {
    shape.append(value.shape[d]);
  }
  return node.all.reshaped(layer, shape);
}

void multiply(Lowering& node, const MatmulOptions& options) {
  const std::size_t rank = std::max(node.rank(0), node.rank(1));
  if (node.rank(0) < 2 || node.rank(1) < 2) {
    // A vector is a matrix of one row, or of one column, and the result lacks that dimension.
    const bool row = node.rank(0) < 2;
    const Shape& vector = node.shape(row ? 0 : 1);
    if (vector.rank() == 0 || node.rank(row ? 1 : 0) < 2) {
      throw Refused("a product of two vectors");
    }
    const Layers::Value given = node.layer(row ? 0 : 1);
    const Layers::Value as_matrix = node.all.reshaped(given, row ? Shape{1, vector[0]} : Shape{vector[0], 1});
    const Layers::Value other = node.layer(row ? 1 : 0);
    const Layers::Value made =
        node.append(row ? std::vector{as_matrix, other} : std::vector{other, as_matrix}, options);
    const Shape& full = node.all.graph[made].shape;
    Shape shape;
    for (std::size_t d = 0; d < full.rank(); ++d) {
      if (d + (row ? 2 : 1) != full.rank()) {
        shape.append(full[d]);
      }
    }
    return node.set(made, shape);
  }
  const std::vector<Layers::Value> operands{matrices(node, 0, rank), matrices(node, 1, rank)};
  const Shape& a = node.all.graph[operands[0]].shape;
  const Shape& b = node.all.graph[operands[1]].shape;
  // Each sample's k matrices meet k others.
  if (const auto met = meeting({a, b}); met && *met > 1 && rank < Shape::kMostDims) {
    Shape shape = a;
    shape[rank - 1 - *met].per_sample = true;
    const Layers::Value made = node.append(
        {node.all.reshaped(operands[0], apart(a, *met)), node.all.reshaped(operands[1], apart(b, *met))},
        options);
    const Shape& product = node.all.graph[made].shape;
    shape[rank - 2] = product[rank - 1];
    shape[rank - 1] = product[rank];
    for (std::size_t d = 0; d + 2 < rank; ++d) {
      shape[d].size = std::max(a[d].size, b[d].size);
      shape[d].per_sample = a[d].per_sample || b[d].per_sample;
    }
    return node.set(node.all.reshaped(made, shape));
  }
  node.set(node.append(operands, options));
}

void lower_matmul(Lowering& node) {
  if (!is_matrix(node.in(1)) || node.rank(0) == 0) {
    return multiply(node, {});
  }
  Product product{.weights = weights(node, 1, "its weights"), .bias = {}};
  const std::int64_t features = product.weights.shape[1].size;
  const Node* const next = adds_bias(node, features, product.bias);
  product.bias = next == nullptr ? std::nullopt : product.bias;
  const Shape shape = with_features(node.shape(0), features);
  const Layers::Value made = linear(node, node.in(0), product);
  if (next != nullptr) {
    node.set_as(*next, made, shape);
  }
  node.set(made, shape);
}

// alpha · A · B, transposed as told
void lower_fused_matmul(Lowering& node) {
  if (integer_of(node.node, "transBatchA", 0) != 0 || integer_of(node.node, "transBatchB", 0) != 0) {
    throw Refused("batches that are transposed");
  }
  multiply(node, {.transpose_a = integer_of(node.node, "transA", 0) != 0,
                  .transpose_b = integer_of(node.node, "transB", 0) != 0,
                  .scale = number_of(node.node, "alpha", 1)});
}

void lower_gemm(Lowering& node) {
  const bool trans_a = integer_of(node.node, "transA", 0) != 0;
  const bool trans_b = integer_of(node.node, "transB", 0) != 0;
  const float alpha = number_of(node.node, "alpha", 1);
  const float beta = number_of(node.node, "beta", 1);
  Value a = node.in(0);
  if (a.shape.rank() != 2) {
    throw Refused(fmt::format("it needs a matrix, not {}", a.shape.text()));
  }
  if (trans_a) {
    a.layer = node.append({node.layer(0)}, TransposeOptions{.order = {1, 0}});
    a.shape = {a.shape[1], a.shape[0]};
  }
  if (!is_matrix(node.in(1)) || (alpha != 1 && node.has(2)) || (beta != 1 && node.has(2))) {
    if (node.rank(1) != 2) {
      throw Refused(fmt::format("it needs a matrix, not {}", node.shape(1).text()));
    }
    const Layers::Value made = node.append({node.all.layer(a), node.layer(1)},
                                           MatmulOptions{.transpose_b = trans_b, .scale = alpha});
    const Value product = node.value(made);
    if (node.has(2) && beta != 0) {
      Value summand = node.in(2);
      if (beta != 1) {
        summand.layer =
            node.append({node.layer(2)}, ActivationOptions{.activation = Activation::linear(beta, 0)});
      }
      const Value sum = joined(node, PointwiseFunction::add, {product, summand});
      return node.set(*sum.layer, sum.shape);
    }
    return node.set(product);
  }
  Product product{.weights = weights(node, 1, "its weights"), .rows_are_features = trans_b, .bias = {}};
  const std::int64_t features = product.weights.shape[trans_b ? 0 : 1].size;
  std::optional<Value> summand;
  if (node.has(2)) {
    product.bias = bias_of(node.in(2), features);
    if (!product.bias) {
      summand = node.in(2);
    }
  }
  Layers::Value made = linear(node, a, product);
  if (alpha != 1) {
    made = node.append({made}, ActivationOptions{.activation = Activation::linear(alpha, 0)});
  }
  const Shape shape = with_features(a.shape, features);
  if (summand) {
    const Value sum = joined(node, PointwiseFunction::add, {node.value(made, shape), *summand});
    return node.set(*sum.layer, sum.shape);
  }
  node.set(made, shape);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"MatMul", lower_matmul},
    {"com.microsoft.FusedMatMul", lower_fused_matmul},
    {"Gemm", lower_gemm},
};

}  // namespace
}  // namespace bench::kernels::onnx
