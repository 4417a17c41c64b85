#include "kernels/networks/onnx/lower/lowering.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench::kernels::onnx {

bool Lowering::has(std::size_t input) const {
  return input < node.inputs.size() && !node.inputs[input].empty();
}

const Value& Lowering::any_in(std::size_t input) const {
  if (!has(input)) {
    throw Refused(fmt::format("its input {} is not given", input));
  }
  const auto replaced = replaced_.find(input);
  return replaced != replaced_.end() ? replaced->second : all.values.at(node.inputs[input]);
}

const Value& Lowering::in(std::size_t input) const {
  const Value& value = any_in(input);
  if (value.sequence != nullptr) {
    throw Refused(fmt::format("its input {} is a sequence", input));
  }
  return value;
}

const Constant& Lowering::known(std::size_t input, const std::string& what) const {
  const Value& value = in(input);
  if (value.constant == nullptr) {
    throw Refused(what + " depend on data");
  }
  return *value.constant;
}

std::optional<std::vector<std::int64_t>> Lowering::list(const std::string& attribute, std::size_t input,
                                                        const std::string& what) const {
  return has(input) ? std::optional(known(input, what).wholes()) : integers_of(node, attribute);
}

std::optional<std::vector<std::size_t>> Lowering::axes(std::size_t input_of_axes) const {
  const auto given = list("axes", input_of_axes, "its axes");
  if (!given) {
    return std::nullopt;
  }
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : *given) {
    axes.push_back(axis_of(axis, rank(0)));
  }
  std::ranges::sort(axes);
  return axes;
}

std::size_t Lowering::axis(std::int64_t otherwise) const {
  return axis_of(integer_of(node, "axis", otherwise), rank(0));
}

Evaluation Lowering::evaluation() const {
  Evaluation evaluation{.node = node,
                        .opset = all.opset(),
                        .file_batch = all.file_batch,
                        .batch_is_free = all.batch_is_free,
                        .budget = all.budget};
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    evaluation.inputs.push_back(has(i) ? in(i).constant.get() : nullptr);
  }
  return evaluation;
}

void Lowering::require_booleans(std::size_t input) const {
  if (is_float(in(input).type)) {
    throw Refused("it needs booleans, not floats");
  }
}

Value Lowering::value(Layers::Value layer, const Shape& shape) const {
  return {.name = name(), .shape = shape, .layer = layer};
}

Value Lowering::value(Constant constant) const {
  Value made{.name = name(), .type = constant.type, .shape = shape_of(constant.dims)};
  made.constant = std::make_shared<Constant>(std::move(constant));
  return made;
}

void Lowering::set(Layers::Value layer, std::size_t output) {
  set(layer, all.graph[layer].shape, output);
}

void Lowering::set(Layers::Value layer, const Shape& shape, std::size_t output) {
  Value result = value(layer, shape);
  result.type = has(0) && all.values.contains(node.inputs[0]) ? in(0).type : ElementType::f32;
  set(std::move(result), output);
}

void Lowering::set(Value value, std::size_t output) {
  if (output < node.outputs.size() && !node.outputs[output].empty()) {
    value.name = node.outputs[output];
    all.values.insert_or_assign(value.name, std::move(value));
  }
}

void Lowering::set(Constant constant, std::size_t output) {
  set(value(std::move(constant)), output);
}

void Lowering::set_as(const Node& later, Layers::Value layer, const Shape& shape) {
  all.absorbed.insert(&later);
  Value value;
  value.name = later.outputs.front();
  value.shape = shape;
  value.layer = layer;
  all.values.insert_or_assign(value.name, std::move(value));
}

constexpr const char* kDrawn = "The weights of {} are drawn, not computed from others.";

WeightInput weights(const Lowering& node, std::size_t input, const std::string& what) {
  const Value& value = node.in(input);
  if (value.is_known() && !is_float(value.type)) {
    throw Refused(what + " are integers; floats are accepted");
  }
  if (value.has_batch() ||
      (value.layer && !value.is_weight() && node.all.graph[*value.layer].shape.batch_dimension())) {
    throw Refused(what + " depend on data");
  }
  if (!value.is_weight() && value.layer) {
    node.all.assume_of(kDrawn, node.name());
    return {value.name, value.shape};
  }
  if (value.computed) {
    node.all.assume_of(kDrawn, node.name());
  }
  return {value.is_weight() ? value.parameter : value.name, value.shape, value.transposed};
}

}  // namespace bench::kernels::onnx
