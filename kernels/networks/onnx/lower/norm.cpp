// Normalisations.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"
#include "kernels/operations/group_norm/group_norm.h"
#include "kernels/operations/lrn/lrn.h"

namespace bench::kernels::onnx {
namespace {

void record(Lowering& node, Layers::Value made, std::size_t input, Slot slot, const std::string& what) {
  node.all.sources.push_back(
      {.initializer = weights(node, input, what).parameter, .layer = made, .slot = slot});
}

// Statistics of weights, as weight standardisation computes: the result is drawn.
bool normalises_weights(Lowering& node) {
  const Value& in = node.in(0);
  const bool fixed = !in.has_batch() && (in.is_weight() || in.layer);
  if (fixed) {
    Value drawn = in;
    drawn.constant = nullptr;
    drawn.layer = std::nullopt;
    drawn.parameter = in.is_weight() ? in.parameter : in.name;
    drawn.computed = true;
    drawn.transposed = false;
    node.set(drawn);
  }
  return fixed;
}

// A value of any number of dimensions as maps: the dimensions after the channels are their pixels.
Layers::Value as_maps(Lowering& node, const Shape& shape) {
  if (shape.is_maps()) {
    return node.layer(0);
  }
  std::int64_t pixels = 1;
  for (std::size_t d = 2; d < shape.rank(); ++d) {
    pixels *= shape[d].size;
  }
  return node.all.reshaped(node.elements(0), {shape[0], shape[1], 1, pixels});
}

// Channels are after the first dimension. A matrix has them last; a sequence or a volume is as maps of
// height 1.
void lower_batch_norm(Lowering& node) {
  if (normalises_weights(node)) {
    return;
  }
  if (integer_of(node.node, "spatial", 1) == 0) {  // before opset 9
    throw Refused("it normalises each place of a map by itself");
  }
  if (integer_of(node.node, "training_mode", 0) != 0) {
    node.all.assume("In inference batch norms use their running statistics.");
  }
  const Shape shape = node.shape(0);
  const std::size_t rank = shape.rank();
  if (rank < 2 || !shape.is_fixed_from(1)) {
    throw Refused(fmt::format("it needs maps, not {}", shape.text()));
  }
  const WeightInput scale = weights(node, 1, "its factors");
  if (scale.shape.elements() != shape[1].size) {
    throw Refused(fmt::format("{} factors for {}", scale.shape.elements(), shape.text()));
  }
  const Layers::Value in = rank == 2 ? node.layer(0) : as_maps(node, shape);
  const Layers::Value made = node.all.append(
      layer_name(scale.parameter), {in}, BatchNormOptions{.epsilon = number_of(node.node, "epsilon", 1e-5F)});
  record(node, made, 1, Slot::scale, "its factors");
  record(node, made, 2, Slot::shift, "its shifts");
  record(node, made, 3, Slot::mean, "its means");
  record(node, made, 4, Slot::variance, "its variances");
  node.set(made, shape);
}

// The norm of each instance of maps that were reshaped into groups, without factors, is a norm of those
// groups.
bool lower_as_groups(Lowering& node) {
  const Value& in = node.in(0);
  if (in.shape.rank() != 3 || !in.layer || scalar_of(node.in(1)) != 1.0 || scalar_of(node.in(2)) != 0.0) {
    return false;
  }
  const Layers::Value from = *in.layer;
  const Shape& maps = node.all.graph[from].shape;
  const std::int64_t groups = in.shape[1].size;
  if (!maps.is_maps() || maps[0] != in.shape[0] || maps.channels() % groups != 0) {
    return false;
  }
  const GroupNormOptions options{
      .groups = groups, .epsilon = number_of(node.node, "epsilon", 1e-5F), .affine = false};
  const Shape shape = in.shape;
  node.set(node.append({from}, options), shape);
  return true;
}

void lower_groups(Lowering& node, std::int64_t groups) {
  const Shape shape = node.shape(0);
  if (shape.rank() < 3 || !shape.is_fixed_from(1)) {
    throw Refused(fmt::format("it needs maps, not {}", shape.text()));
  }
  if (normalises_weights(node)) {
    return;
  }
  const bool affine = node.has(1) && node.has(2);
  const GroupNormOptions options{
      .groups = groups, .epsilon = number_of(node.node, "epsilon", 1e-5F), .affine = affine};
  if (!affine) {
    if (node.has(1) || node.has(2)) {
      throw Refused("factors without summands, or summands without factors");
    }
    return node.set(node.append({as_maps(node, shape)}, options), shape);
  }
  const WeightInput scale = weights(node, 1, "its factors");
  if (scale.shape.elements() != shape[1].size) {
    throw Refused(fmt::format("{} factors for {}", scale.shape.elements(), shape.text()));
  }
  const Layers::Value made = node.all.append(layer_name(scale.parameter), {as_maps(node, shape)}, options);
  record(node, made, 1, Slot::scale, "its factors");
  record(node, made, 2, Slot::shift, "its shifts");
  node.set(made, shape);
}

void lower_instance_norm(Lowering& node) {
  if (normalises_weights(node) || lower_as_groups(node)) {
    return;
  }
  lower_groups(node, 0);
}

void lower_group_norm(Lowering& node) {
  const std::int64_t groups = integer_of(node.node, "num_groups", 0);
  if (groups < 1) {
    throw Refused(
        fmt::format("its num_groups is {}; 1 and more are accepted",
                    node.node.find("num_groups") == nullptr ? "not given" : std::to_string(groups)));
  }
  // Before opset 21 a factor was for a group.
  if (node.rank(0) > 1 && weights(node, 1, "its factors").shape.elements() != node.shape(0)[1].size) {
    throw Refused("a factor for each group");
  }
  lower_groups(node, groups);
}

void lower_own_group_norm(Lowering& node) {
  lower_groups(node, integer_of(node.node, "groups", 1));
}

// Over the last dimensions: over several as over one.
void lower_layer_norm(Lowering& node) {
  const Shape shape = node.shape(0);
  const std::size_t first = node.axis(-1);
  Value rows = node.in(0);
  if (first + 1 != shape.rank()) {
    Shape merged;
    for (std::size_t d = 0; d < first; ++d) {
      merged.append(shape[d]);
    }
    std::int64_t width = 1;
    for (std::size_t d = first; d < shape.rank(); ++d) {
      if (shape[d].per_sample) {
        throw Refused("it would normalise over the samples of a batch");
      }
      width *= shape[d].size;
    }
    merged.append(width);
    rows.layer = node.elements(0);
    rows.shape = merged;
  }
  const bool scaled = node.has(1);
  const bool shifted = node.has(2);
  LayerNormOptions options{
      .epsilon = number_of(node.node, "epsilon", 1e-5F), .scale = scaled, .shift = shifted};
  const std::string name = scaled ? layer_name(weights(node, 1, "its factors").parameter) : node.name();
  const std::int64_t width = rows.shape[rows.shape.rank() - 1].size;
  for (const std::size_t input : {1, 2}) {
    if (node.has(input) && node.shape(input).elements() != width) {
      throw Refused(fmt::format("{} factors for rows of {}", node.shape(input).elements(), width));
    }
  }
  options.shift = shifted && scaled;
  const Layers::Value made = node.all.append(name, {node.all.rows(rows)}, options);
  if (scaled) {
    record(node, made, 1, Slot::scale, "its factors");
  }
  if (options.shift) {
    record(node, made, 2, Slot::shift, "its shifts");
  }
  if (shifted && !scaled) {
    const Value sum = joined(node, PointwiseFunction::add, {node.value(made, shape), node.in(2)});
    return node.set(*sum.layer, sum.shape);
  }
  node.set(made, shape);
}

// The sum of two values, and its norm.
void lower_skip_layer_norm(Lowering& node) {
  Value sum = node.in(0);
  const auto add = [&](std::size_t input) {
    sum = joined(node, PointwiseFunction::add, {sum, node.in(input)});
  };
  add(1);
  if (node.has(4)) {
    add(4);
  }
  const WeightInput scale = weights(node, 2, "its factors");
  const LayerNormOptions options{
      .epsilon = number_of(node.node, "epsilon", 1e-12F), .scale = true, .shift = node.has(3)};
  const Layers::Value made = node.all.append(layer_name(scale.parameter), {node.all.rows(sum)}, options);
  record(node, made, 2, Slot::scale, "its factors");
  if (node.has(3)) {
    record(node, made, 3, Slot::shift, "its shifts");
  }
  node.set(made, sum.shape);
  node.set(sum, 3);
}

void lower_lrn(Lowering& node) {
  const std::int64_t size = integer_of(node.node, "size", 5);
  node.set(node.append({node.layer(0)}, LrnOptions{.size = size,
                                                   .alpha = number_of(node.node, "alpha", 1e-4F),
                                                   .beta = number_of(node.node, "beta", 0.75F),
                                                   .k = number_of(node.node, "bias", 1)}));
}

// x over its length along a dimension: the root of the sum of squares, or the sum of absolute values.
void lower_lp_norm(Lowering& node) {
  const std::int64_t order = integer_of(node.node, "p", 2);
  if (order != 1 && order != 2) {
    throw Refused("a norm of another order than one or two");
  }
  const Shape shape = node.shape(0);
  const Layers::Value x = node.layer(0);
  const ReduceOptions along{.function = order == 2 ? ReduceFunction::l2 : ReduceFunction::sum,
                            .dimensions = {node.axis(-1)},
                            .keep_dims = true};
  const Layers::Value values =
      order == 2 ? x : node.append({x}, ActivationOptions{.activation = Activation::abs});
  const Layers::Value length = node.append({values}, along);
  node.set(node.append({x, length}, PointwiseOptions{.function = PointwiseFunction::divide}), shape);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"BatchNormalization", lower_batch_norm},
    {"InstanceNormalization", lower_instance_norm},
    {"GroupNormalization", lower_group_norm},
    {"bench.GroupNorm", lower_own_group_norm},
    {"LayerNormalization", lower_layer_norm},
    {"bench.LayerNorm", lower_layer_norm},
    {"com.microsoft.LayerNormalization", lower_layer_norm},
    {"com.microsoft.SkipLayerNormalization", lower_skip_layer_norm},
    {"LRN", lower_lrn},
    {"LpNormalization", lower_lp_norm},
};

}  // namespace
}  // namespace bench::kernels::onnx
