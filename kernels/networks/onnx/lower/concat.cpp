#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/constants/slices.h"
#include "kernels/networks/onnx/lower/batch_apart.h"
#include "kernels/networks/onnx/lower/copies.h"

namespace bench::kernels::onnx {
namespace {

// A layer joins 64 values at most.
Layers::Value joined(Lowering& node, std::vector<Layers::Value> parts, std::size_t axis) {
  if (parts.empty()) {
    throw Refused("it joins nothing");
  }
  while (parts.size() > 1) {
    std::vector<Layers::Value> fewer;
    for (std::size_t first = 0; first < parts.size(); first += 64) {
      const auto from = parts.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = static_cast<std::ptrdiff_t>(std::min<std::size_t>(parts.size() - first, 64));
      const std::vector<Layers::Value> some(from, from + count);
      fewer.push_back(count == 1 ? some.front() : node.append(some, ConcatOptions{.dimension = axis}));
    }
    parts = std::move(fewer);
  }
  return parts.front();
}

// Joins the elements of each sample.
Value of_samples(Lowering& node, const std::vector<Value>& values, std::size_t axis) {
  std::vector<Layers::Value> parts;
  Shape shape = values.front().shape;
  shape[axis] = {0, true};
  for (const Value& value : values) {
    Shape own = apart(value.shape, value.shape.rank() - 1 - axis);
    own[axis] = kBatch;
    parts.push_back(node.all.repeated(node.all.elements(value), own));
    shape[axis].size += value.shape[axis].size;
  }
  node.all.assume_of("What each sample has is joined, not batches, by {}.", node.name());
  return node.value(joined(node, parts, axis + 1), shape);
}

Value of_known(const Lowering& node, const std::vector<Value>& values, std::size_t axis) {
  std::vector<const Constant*> constants;
  for (const Value& value : values) {
    constants.push_back(value.constant.get());
  }
  Attribute along;
  along.name = "axis";
  along.i = static_cast<std::int64_t>(axis);
  return node.value(folded(node, "Concat", {along}, constants));
}

}  // namespace

Constant folded(const Lowering& node, const std::string& op, std::vector<Attribute> attributes,
                const std::vector<const Constant*>& inputs) {
  Node made;
  made.op = op;
  made.attributes = std::move(attributes);
  const Evaluation evaluation{.node = made,
                              .opset = 13,
                              .file_batch = node.all.file_batch,
                              .batch_is_free = node.all.batch_is_free,
                              .inputs = inputs,
                              .budget = node.all.budget};
  return registry<ConstantOperator>().find(op)->evaluate(evaluation).front();
}

Value stacked(Lowering& node, std::vector<Value> values, std::size_t axis) {
  for (Value& value : values) {
    const Extents dims = unsqueezed(extents_of(value.shape), {static_cast<std::int64_t>(axis)});
    value.shape = shape_of(dims);
    if (value.transposed) {
      throw Refused("it stacks transposed weights");
    }
    if (value.constant != nullptr) {
      Constant constant = *value.constant;
      constant.dims = dims;
      value.constant = std::make_shared<const Constant>(std::move(constant));
    }
  }
  return concatenated(node, values, axis);
}

Value concatenated(Lowering& node, const std::vector<Value>& values, std::size_t axis) {
  if (!values.empty() && std::ranges::all_of(values, &Value::is_known)) {
    try {
      return of_known(node, values, axis);
    } catch (const Refused&) {
      // A layer may join what is too much to fold.
      if (!std::ranges::all_of(values, [](const Value& value) { return is_float(value.type); })) {
        throw;
      }
    }
  }
  std::optional<std::size_t> batch;
  Extent each = 1;
  std::vector<Value> some;  // with elements
  for (const Value& value : values) {
    if (value.shape.elements() == 0) {
      continue;
    }
    some.push_back(value);
    if (value.shape.rank() != values.front().shape.rank()) {
      throw Refused("values of different numbers of dimensions");
    }
    if (const auto at = value.shape.batch_dimension()) {
      if (batch && *batch != *at) {
        throw Refused("values whose batch is another dimension");
      }
      batch = at;
      each = value.shape[*at];
    }
  }
  if (batch == axis && some.size() > 1) {
    return of_samples(node, some, axis);
  }
  std::vector<Layers::Value> parts;
  for (const Value& value : some) {
    Shape wanted = value.shape;
    Layers::Value layer = node.all.layer(value);
    if (batch && !value.has_batch()) {
      if (wanted[*batch].size != 1 && wanted[*batch].size != each.size) {
        throw Refused(fmt::format("it joins {} with values of a batch", wanted.text()));
      }
      const bool one = wanted[*batch].size == 1;
      wanted[*batch] = each;
      layer = one ? node.append({layer}, ExpandOptions{.shape = wanted}) : node.all.repeated(layer, wanted);
    }
    parts.push_back(layer);
  }
  return node.value(joined(node, parts, axis));
}

}  // namespace bench::kernels::onnx
