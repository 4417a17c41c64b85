// RMS norms: layer norms without a mean and a shift,
//
//   x / √(mean of x² + ε) · scale
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"

namespace bench::kernels::onnx {
namespace {

// Over the dimensions from `first` to the last.
Value normalised(Lowering& node, const Value& x, std::size_t first) {
  ReduceOptions options{.function = ReduceFunction::sum_of_squares, .dimensions = {}, .keep_dims = true};
  Extents dims;
  for (std::size_t d = first; d < x.shape.rank(); ++d) {
    if (x.shape[d].per_sample) {
      throw Refused("it would normalise over the samples of a batch");
    }
    options.dimensions.push_back(d);
    dims.push_back(x.shape[d]);
  }
  const float share = 1 / static_cast<float>(elements_of(dims));
  const float epsilon = number_of(node.node, "epsilon", 1e-5F);
  const Layers::Value in = node.all.layer(x);
  const auto step = [&](Layers::Value from, Activation activation) {
    return node.append({from}, ActivationOptions{.activation = activation});
  };
  const Layers::Value factor =
      step(step(node.append({in}, options), Activation::linear(share, epsilon)), Activation::power(-0.5F));
  const Layers::Value made =
      node.append({in, factor}, PointwiseOptions{.function = PointwiseFunction::multiply});
  return {.name = node.name(), .type = x.type, .shape = x.shape, .layer = made};
}

// Sets the result: the value times the factors, if the node has any.
void set_scaled(Lowering& node, const Value& value, std::size_t factors) {
  if (!node.has(factors)) {
    return node.set(value);
  }
  const Value made = joined(node, PointwiseFunction::multiply, {value, node.in(factors)});
  node.set(*made.layer, made.shape);
}

void lower_rms_norm(Lowering& node) {
  set_scaled(node, normalised(node, node.in(0), node.axis(-1)), 1);
}

// The sum of two values, and its norm.
void lower_skip_rms_norm(Lowering& node) {
  Value sum = node.in(0);
  for (const std::size_t input : {std::size_t{1}, std::size_t{3}}) {
    if (node.has(input)) {
      sum = joined(node, PointwiseFunction::add, {sum, node.in(input)});
    }
  }
  if (sum.shape.rank() == 0) {
    throw Refused("a single value");
  }
  set_scaled(node, normalised(node, sum, sum.shape.rank() - 1), 2);
  node.set(sum, 3);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"RMSNormalization", lower_rms_norm},
    {"SimplifiedLayerNormalization", lower_rms_norm},
    {"com.microsoft.SkipSimplifiedLayerNormalization", lower_skip_rms_norm},
};

}  // namespace
}  // namespace bench::kernels::onnx
