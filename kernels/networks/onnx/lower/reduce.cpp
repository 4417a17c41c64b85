// Reductions.
#include <algorithm>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

Shape without(const Shape& shape, const std::vector<std::size_t>& dimensions, bool keep) {
  Shape result;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const bool gone = std::ranges::find(dimensions, d) != dimensions.end();
    if (!gone || keep) {
      result.append(gone ? Extent(1) : shape[d]);
    }
  }
  return result;
}

struct Joining {
  ReduceFunction function;
  Activation before = Activation::none, behind = Activation::none;
};

void lower(Lowering& node, const Joining& joining) {
  node.require_numbers(0);
  const Shape shape = node.shape(0);
  const bool keep = integer_of(node.node, "keepdims", 1) != 0;
  std::vector<std::size_t> dimensions;
  const auto given = node.axes(1);
  if (given && !given->empty()) {
    dimensions = *given;
  } else if (integer_of(node.node, "noop_with_empty_axes", 0) != 0) {
    return node.same(0);
  } else {
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      dimensions.push_back(d);
    }
  }
  for (const std::size_t d : dimensions) {
    if (shape[d].per_sample) {
      throw Refused("it would join the samples of a batch");
    }
  }
  const Shape result = without(shape, dimensions, keep);
  if (joining.function == ReduceFunction::mean && shape.is_maps() &&
      dimensions == std::vector<std::size_t>{2, 3}) {
    const Layers::Value in = node.layer(0);
    const bool pixel = shape.height() == 1 && shape.width() == 1;
    return node.set(pixel ? in : node.append({in}, AveragePoolOptions{.size = 1}), result);
  }
  Layers::Value layer = node.layer(0);
  const auto apply = [&](Activation activation) {
    if (activation != Activation::none) {
      layer = node.append({layer}, ActivationOptions{.activation = activation});
    }
  };
  apply(joining.before);
  layer = node.append(
      {layer}, ReduceOptions{.function = joining.function, .dimensions = dimensions, .keep_dims = true});
  apply(joining.behind);
  node.set(layer, result);
}

using F = ReduceFunction;
void lower_mean(Lowering& node) {
  lower(node, {F::mean});
}
void lower_sum(Lowering& node) {
  lower(node, {F::sum});
}
void lower_maximum(Lowering& node) {
  lower(node, {F::maximum});
}
void lower_minimum(Lowering& node) {
  lower(node, {F::minimum});
}
void lower_product(Lowering& node) {
  lower(node, {F::product});
}
void lower_squares(Lowering& node) {
  lower(node, {F::sum_of_squares});
}
void lower_l2(Lowering& node) {
  lower(node, {F::l2});
}
void lower_l1(Lowering& node) {
  lower(node, {F::sum, Activation::abs});
}
void lower_log_sum(Lowering& node) {
  lower(node, {F::sum, Activation::none, Activation::log});
}
void lower_log_sum_exp(Lowering& node) {
  lower(node, {F::sum, Activation::exp, Activation::log});
}

const Registration<Lowered> mean{{"ReduceMean", lower_mean}};
const Registration<Lowered> sum{{"ReduceSum", lower_sum}};
const Registration<Lowered> maximum{{"ReduceMax", lower_maximum}};
const Registration<Lowered> minimum{{"ReduceMin", lower_minimum}};
const Registration<Lowered> product{{"ReduceProd", lower_product}};
const Registration<Lowered> squares{{"ReduceSumSquare", lower_squares}};
const Registration<Lowered> l2{{"ReduceL2", lower_l2}};
const Registration<Lowered> l1{{"ReduceL1", lower_l1}};
const Registration<Lowered> log_sum{{"ReduceLogSum", lower_log_sum}};
const Registration<Lowered> log_sum_exp{{"ReduceLogSumExp", lower_log_sum_exp}};

}  // namespace
}  // namespace bench::kernels::onnx
