// Reductions.
#include <algorithm>
#include <optional>
#include <vector>

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

// nullopt: none, so that each element stays by itself.
std::optional<std::vector<std::size_t>> joined_dimensions(Lowering& node) {
  node.require_numbers(0);
  const Shape& shape = node.shape(0);
  std::vector<std::size_t> dimensions;
  const auto given = node.axes(1);
  if (given && !given->empty()) {
    dimensions = *given;
  } else if (integer_of(node.node, "noop_with_empty_axes", 0) != 0) {
    return std::nullopt;
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
  return dimensions;
}

// What each element by itself gives.
void set_of_one(Lowering& node, const Joining& joining) {
  using R = ReduceFunction;
  const Activation itself = joining.function == R::sum_of_squares ? Activation::power(2)
                            : joining.function == R::l2           ? Activation::abs
                                                                  : Activation::none;
  const Shape shape = node.shape(0);
  Layers::Value layer = node.layer(0);
  bool changed = false;
  for (const Activation& activation : {joining.before, itself, joining.behind}) {
    if (activation != Activation::none) {
      layer = node.append({layer}, ActivationOptions{.activation = activation});
      changed = true;
    }
  }
  changed ? node.set(layer, shape) : node.same(0);
}

void lower(Lowering& node, const Joining& joining) {
  const auto given = joined_dimensions(node);
  if (!given) {
    return set_of_one(node, joining);
  }
  const std::vector<std::size_t>& dimensions = *given;
  const Shape shape = node.shape(0);
  const bool keep = integer_of(node.node, "keepdims", 1) != 0;
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

using R = ReduceFunction;
void reduce_mean(Lowering& node) {
  lower(node, {R::mean});
}
void reduce_sum(Lowering& node) {
  lower(node, {R::sum});
}
void reduce_maximum(Lowering& node) {
  lower(node, {R::maximum});
}
void reduce_minimum(Lowering& node) {
  lower(node, {R::minimum});
}
void reduce_product(Lowering& node) {
  lower(node, {R::product});
}
void reduce_squares(Lowering& node) {
  lower(node, {R::sum_of_squares});
}
void reduce_l2(Lowering& node) {
  lower(node, {R::l2});
}
void reduce_l1(Lowering& node) {
  lower(node, {R::sum, Activation::abs});
}
void reduce_log_sum(Lowering& node) {
  lower(node, {R::sum, Activation::none, Activation::log});
}
// The largest is subtracted first, so that no exponential overflows.
void reduce_log_sum_exp(Lowering& node) {
  const auto dimensions = joined_dimensions(node);
  if (!dimensions) {
    return node.same(0);
  }
  const Shape shape = node.shape(0);
  const bool keep = integer_of(node.node, "keepdims", 1) != 0;
  const auto reduced = [&](Layers::Value from, R function) {
    return node.append({from},
                       ReduceOptions{.function = function, .dimensions = *dimensions, .keep_dims = true});
  };
  const auto activated = [&](Layers::Value from, Activation activation) {
    return node.append({from}, ActivationOptions{.activation = activation});
  };
  const Layers::Value in = node.layer(0);
  const Layers::Value largest = reduced(in, R::maximum);
  const Layers::Value lowered =
      node.append({in, largest}, PointwiseOptions{.function = PointwiseFunction::subtract});
  const Layers::Value sum = activated(reduced(activated(lowered, Activation::exp), R::sum), Activation::log);
  node.set(node.append({sum, largest}, PointwiseOptions{.function = PointwiseFunction::add}),
           without(shape, *dimensions, keep));
}

const Registration<Lowered> BENCH_REGISTERED{
    {"ReduceMean", reduce_mean},      {"ReduceSum", reduce_sum},
    {"ReduceMax", reduce_maximum},    {"ReduceMin", reduce_minimum},
    {"ReduceProd", reduce_product},   {"ReduceSumSquare", reduce_squares},
    {"ReduceL2", reduce_l2},          {"ReduceL1", reduce_l1},
    {"ReduceLogSum", reduce_log_sum}, {"ReduceLogSumExp", reduce_log_sum_exp},
};

}  // namespace
}  // namespace bench::kernels::onnx
