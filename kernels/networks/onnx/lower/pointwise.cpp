// Functions of two or three values with broadcasting. One with a number that is known is a function of one.
#include "kernels/networks/onnx/lower/pointwise.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/lower/batch_apart.h"

namespace bench::kernels::onnx {

std::optional<double> scalar_of(const Value& value) {
  // A constant of many equal elements, all of one sample, is one number too.
  return value.is_known() && value.constant->is_uniform() && value.constant->per_batch.empty() &&
                 !value.constant->counts_samples() && value.constant->elements() > 0
             ? std::optional(value.constant->value(0))
             : std::nullopt;
}

Value joined(Lowering& node, PointwiseFunction function, const std::vector<Value>& values) {
  Importing& all = node.all;
  Extents dims;
  for (const Value& value : values) {
    dims = broadcast(dims, extents_of(value.shape));
  }
  const Shape shape = shape_of(dims);
  std::vector<Shape> shapes;
  for (const Value& value : values) {
    shapes.push_back(value.shape);
  }
  if (const auto met = meeting(shapes)) {
    std::vector<Value> parts;
    for (const Value& value : values) {
      parts.push_back(apart(all, value, *met));
    }
    return node.value(*joined(node, function, parts).layer, shape);
  }
  // Around 1 where it is a factor, around 0 where it is a summand.
  const bool factor = function == PointwiseFunction::multiply || function == PointwiseFunction::divide;
  const Uniform start = factor ? Uniform{1, 0.2} : Uniform{};
  const auto record = [&](const std::vector<Layers::Value>& layers) {
    const Shape& first = all.graph[layers[0]].shape;
    const bool sum = function == PointwiseFunction::add && layers.size() == 2 &&
                     first == all.graph[layers[1]].shape && first.batch_dimension();
    return sum ? node.append(layers, AddOptions{})
               : node.append(layers, PointwiseOptions{.function = function});
  };
  const bool alike = std::ranges::all_of(values, [&](const Value& value) { return value.shape == shape; });
  std::vector<Layers::Value> layers;
  if (alike) {
    // In the shape that the first layer has.
    const auto made =
        std::ranges::find_if(values, [](const Value& value) { return value.layer.has_value(); });
    const Shape stored = made == values.end() ? shape : all.graph[*made->layer].shape;
    for (const Value& value : values) {
      layers.push_back(all.reshaped(all.elements(value, start), stored));
    }
    return node.value(record(layers), shape);
  }
  // Rows with a vector for each: the vector meets the last dimension, whatever the others are.
  const auto is_vector = [&](const Value& value) {
    const std::size_t rank = value.shape.rank();
    return rank > 0 && !value.has_batch() && value.shape[rank - 1] == shape[shape.rank() - 1] &&
           value.shape.elements() == value.shape[rank - 1].size;
  };
  if (values.size() == 2) {
    for (const std::size_t big : {0, 1}) {
      const Value& rows = values[big];
      const Value& vector = values[1 - big];
      if (rows.layer && rows.shape == shape && is_vector(vector)) {
        const Shape& stored = all.graph[*rows.layer].shape;
        if (stored.rank() > 0 && stored[stored.rank() - 1] == shape[shape.rank() - 1]) {
          layers = {*rows.layer, *rows.layer};
          layers[1 - big] = all.reshaped(all.elements(vector, start), {shape[shape.rank() - 1]});
          return node.value(record(layers), shape);
        }
      }
    }
  }
  for (const Value& value : values) {
    layers.push_back(all.layer(value, start, false));
  }
  const Layers::Value made = record(layers);
  return node.value(all.repeated(made, shape), shape);
}

namespace {

// Whether the result has the other input's shape, which a number does not change.
bool keeps_shape(const Lowering& node, std::size_t input) {
  return shape_of(broadcast(extents_of(node.shape(0)), extents_of(node.shape(1)))) == node.shape(input);
}

using OfNumber = std::optional<Activation> (*)(double number, bool number_first);

void lower_binary(Lowering& node, PointwiseFunction function, OfNumber of_number) {
  node.require_numbers(0);
  node.require_numbers(1);
  if (function == PointwiseFunction::divide && !is_float(node.in(0).type)) {
    throw Refused("it divides whole numbers that depend on data");
  }
  for (const std::size_t known : {1, 0}) {
    const auto number = scalar_of(node.in(known));
    const std::size_t other = 1 - known;
    if (number && of_number != nullptr && keeps_shape(node, other)) {
      if (const auto activation = of_number(*number, known == 0)) {
        const bool none = *activation == Activation::linear(1, 0);
        return none ? node.same(other) : apply(node, other, *activation);
      }
    }
  }
  const Value made = joined(node, function, {node.in(0), node.in(1)});
  node.set(*made.layer, made.shape);
}

std::optional<Activation> add_number(double number, bool /*first*/) {
  return Activation::linear(1, static_cast<float>(number));
}
std::optional<Activation> subtract_number(double number, bool first) {
  const auto value = static_cast<float>(number);
  return first ? Activation::linear(-1, value) : Activation::linear(1, -value);
}
std::optional<Activation> multiply_number(double number, bool /*first*/) {
  return Activation::linear(static_cast<float>(number), 0);
}
std::optional<Activation> divide_number(double number, bool first) {
  return first ? (number == 1 ? std::optional(Activation::reciprocal) : std::nullopt)
               : std::optional(Activation::linear(static_cast<float>(1 / number), 0));
}
std::optional<Activation> power_number(double number, bool first) {
  return first           ? std::nullopt
         : number == 1   ? std::optional(Activation::linear(1, 0))
         : number == 0.5 ? std::optional(Activation::sqrt)
         : number == -1  ? std::optional(Activation::reciprocal)
                         : std::optional(Activation::power(static_cast<float>(number)));
}
constexpr float kUnbounded = 3.4028234663852886e38F;
std::optional<Activation> at_least(double number, bool /*first*/) {
  return number == 0 ? Activation::relu : Activation::clip(static_cast<float>(number), kUnbounded);
}
std::optional<Activation> at_most(double number, bool /*first*/) {
  return Activation::clip(-kUnbounded, static_cast<float>(number));
}

template <PointwiseFunction function, OfNumber of_number>
void lower(Lowering& node) {
  lower_binary(node, function, of_number);
}

// Joins any number of values, one after the other.
Value joined_in_turn(Lowering& node, PointwiseFunction function) {
  Value so_far = node.in(0);
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    so_far = joined(node, function, {so_far, node.in(i)});
  }
  return so_far;
}

template <PointwiseFunction function, OfNumber of_number>
void lower_several(Lowering& node) {
  if (node.inputs() == 2) {
    return lower_binary(node, function, of_number);
  }
  node.set(joined_in_turn(node, function));
}

void lower_mean(Lowering& node) {
  const Value sum = joined_in_turn(node, PointwiseFunction::add);
  const auto share = 1 / static_cast<float>(node.inputs());
  node.set(
      node.append({node.all.elements(sum)}, ActivationOptions{.activation = Activation::linear(share, 0)}),
      sum.shape);
}

// Where token ids are compared with one, as with padding's: none is drawn so.
bool compares_token(Lowering& node) {
  const bool first = node.all.is_tokens(node.in(0));
  if (!first && !node.all.is_tokens(node.in(1))) {
    return false;
  }
  const auto id = scalar_of(node.in(first ? 1 : 0));
  if (!id) {
    throw Refused("it compares token ids with more than one number");
  }
  Tokens tokens = *node.all.graph.tokens();
  const bool is_one = *id >= 0 && *id < static_cast<double>(tokens.vocabulary) && *id == std::floor(*id);
  if (is_one) {
    tokens.absent.insert(static_cast<std::int64_t>(*id));
    node.all.draw_tokens(tokens);
    node.all.assume(fmt::format("No token has the id {}, as padding would.", *id));
  }
  node.set(Constant::uniform(ElementType::boolean,
                             broadcast(extents_of(node.shape(0)), extents_of(node.shape(1))), 0));
  return true;
}

void set_joined(Lowering& node, PointwiseFunction function, const std::vector<Value>& values) {
  const Value made = joined(node, function, values);
  Value result;
  result.type = ElementType::boolean;
  result.shape = made.shape;
  result.layer = made.layer;
  node.set(std::move(result));
}

void lower_equal(Lowering& node) {
  if (!compares_token(node)) {
    set_joined(node, PointwiseFunction::equal, {node.in(0), node.in(1)});
  }
}
template <PointwiseFunction function>
void lower_logic(Lowering& node) {
  node.require_booleans(0);
  node.require_booleans(1);
  set_joined(node, function, {node.in(0), node.in(1)});
}
template <PointwiseFunction function, bool swapped>
void lower_comparison(Lowering& node) {
  set_joined(
      node, function,
      swapped ? std::vector<Value>{node.in(1), node.in(0)} : std::vector<Value>{node.in(0), node.in(1)});
}

void lower_where(Lowering& node) {
  const Shape shape = shape_of(
      broadcast(extents_of(node.shape(0)), broadcast(extents_of(node.shape(1)), extents_of(node.shape(2)))));
  if (const auto holds = scalar_of(node.in(0))) {
    const std::size_t chosen = *holds != 0 ? 1 : 2;
    if (node.shape(chosen) == shape) {
      return node.same(chosen);
    }
  }
  Value made = joined(node, PointwiseFunction::where, {node.in(0), node.in(1), node.in(2)});
  made.type = node.in(1).type;
  node.set(std::move(made));
}

// PRelu has one slope for all channels, or one for each.
void lower_prelu(Lowering& node) {
  const Value& slope = node.in(1);
  if (const auto number = scalar_of(slope)) {
    return apply(node, 0, Activation::leaky(static_cast<float>(*number)));
  }
  const Value made = joined(node, PointwiseFunction::prelu, {node.in(0), slope});
  node.set(*made.layer, made.shape);
}

void lower_is_nan(Lowering& node) {
  node.all.assume("No value is NaN.");
  node.set(Constant::uniform(ElementType::boolean, extents_of(node.shape(0)), 0));
}

using F = PointwiseFunction;
const Registration<Lowered> BENCH_REGISTERED{
    {"Add", lower<F::add, add_number>},
    {"Sub", lower<F::subtract, subtract_number>},
    {"Mul", lower<F::multiply, multiply_number>},
    {"Div", lower<F::divide, divide_number>},
    {"Pow", lower<F::power, power_number>},
    {"Max", lower_several<F::maximum, at_least>},
    {"Min", lower_several<F::minimum, at_most>},
    {"Sum", lower_several<F::add, add_number>},
    {"Mean", lower_mean},
    {"Equal", lower_equal},
    {"Less", lower_comparison<F::less, false>},
    {"LessOrEqual", lower_comparison<F::less_or_equal, false>},
    {"Greater", lower_comparison<F::less, true>},
    {"GreaterOrEqual", lower_comparison<F::less_or_equal, true>},
    {"And", lower_logic<F::logical_and>},
    {"Or", lower_logic<F::logical_or>},
    {"Xor", lower_logic<F::logical_xor>},
    {"Where", lower_where},
    {"PRelu", lower_prelu},
    {"IsNaN", lower_is_nan},
};

}  // namespace
}  // namespace bench::kernels::onnx
