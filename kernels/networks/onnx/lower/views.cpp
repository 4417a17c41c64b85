// Operators whose result has its input's elements in order: only the shape changes.
#include <algorithm>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/slices.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"

namespace bench::kernels::onnx {
namespace {

// Each sample's elements stay in order. Where another number of elements comes before the batch, as where
// positions x batch become rows, they are moved, so that a sample's lie as the shape says at every batch.
std::optional<Layers::Value> moved(Lowering& node, const Value& value, const Shape& shape) {
  Importing& all = node.all;
  const std::int64_t before = value.shape.pieces_of_sample();
  const std::int64_t behind = shape.pieces_of_sample();
  const bool is_input = value.layer == all.graph.image();
  if (!value.layer || !value.has_batch() || before == behind || (is_input && all.graph.tokens())) {
    return value.layer;
  }
  const std::int64_t elements = shape.elements();
  Layers::Value made = *value.layer;
  const TransposeOptions swap{.order = {1, 0, 2}};
  if (before > 1) {
    made = node.append({all.reshaped(made, {before, kBatch, elements / before})}, swap);
  }
  if (behind > 1) {
    made = node.append({all.reshaped(made, {kBatch, behind, elements / behind})}, swap);
  }
  return made;
}

// The first input as another shape.
void view(Lowering& node, const Extents& dims) {
  Value value = node.in(0);
  const Shape shape = shape_of(dims);
  if (value.constant != nullptr) {
    Constant constant = *value.constant;
    constant.dims = dims;
    value.constant = std::make_shared<Constant>(std::move(constant));
  }
  if (value.transposed && shape != value.shape) {
    value.transposed = false;
    value.computed = true;
  }
  value.layer = moved(node, value, shape);
  value.shape = shape;
  value.padded = nullptr;
  node.set(std::move(value));
}

// Rows that become positions x batch again, where the target says positions x the file's batch.
void split_positions(const Importing& all, const Extents& in, std::vector<Number>& target) {
  const auto own = std::ranges::find(in, true, &Extent::per_sample);
  const auto at = static_cast<std::size_t>(own - in.begin());
  const auto plain = [](const Number& size) { return size.per_batch == 0; };
  if (own == in.end() || own->size == 1 || at + 1 >= target.size() || !std::ranges::all_of(target, plain)) {
    return;
  }
  double of_sample = 1;  // elements, if the batch is the dimension behind the positions
  for (std::size_t i = 0; i < target.size(); ++i) {
    const bool kept = target[i].fixed == 0 && i < in.size();
    of_sample *= i == at + 1 ? 1 : kept ? static_cast<double>(in[i].size) : target[i].fixed;
  }
  const double samples = target[at + 1].fixed;
  const bool known = samples == -1 || (samples == static_cast<double>(all.file_batch) &&
                                       all.joined_positions.contains(own->size));
  if (known && target[at].fixed == static_cast<double>(own->size) &&
      of_sample == static_cast<double>(elements_of(in))) {
    target[at + 1] = {0, 1};
  }
}

// Positions that a reshape made rows of, with the batch and perhaps heads behind them.
void note_positions(Importing& all, const Extents& in, const Extents& rows) {
  const auto own = std::ranges::find(in, true, &Extent::per_sample);
  const auto at = std::ranges::find(rows, true, &Extent::per_sample);
  const std::int64_t before = elements_of(Extents(in.begin(), own));
  if (own != in.end() && at != rows.end() && own != in.begin() &&
      (at->size == before || at->size == before * own->size)) {
    all.joined_positions.insert(at->size);
  }
}

// Whether the target gives the batch's dimension a size of its own. A runtime would make rows of several
// samples with it, or refuse any batch but the one that was exported.
bool fixes_batch(const Extents& dims, const std::vector<Number>& target) {
  const auto own = std::ranges::find(dims, true, &Extent::per_sample);
  return own != dims.end() && target[static_cast<std::size_t>(own - dims.begin())].per_batch == 0 &&
         target[static_cast<std::size_t>(own - dims.begin())].fixed > 0;
}

void lower_reshape(Lowering& node) {
  std::vector<Number> target;
  if (node.all.opset() < 5) {
    for (const std::int64_t size : integers_of(node.node, "shape").value_or(std::vector<std::int64_t>{})) {
      target.push_back({static_cast<double>(size), 0});
    }
  } else {
    const Constant& shape = node.known(1, "its sizes");
    if (shape.elements() > 64) {
      throw Refused("a shape of too many dimensions");
    }
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      target.push_back(shape.number(i));
    }
  }
  const Extents in = extents_of(node.shape(0));
  split_positions(node.all, in, target);
  const Extents dims = reshaped(in, target, integer_of(node.node, "allowzero", 0) != 0, node.all.file_batch);
  note_positions(node.all, in, dims);
  if (node.all.batch_is_free && fixes_batch(dims, target)) {
    node.all.assume_of("Samples are reshaped one by one by {}: its sizes leave no room for a batch.",
                       node.name());
  }
  view(node, dims);
}

void lower_flatten(Lowering& node) {
  const Extents dims = extents_of(node.shape(0));
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t given = integer_of(node.node, "axis", 1);
  const auto axis =
      static_cast<std::size_t>(std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank));
  view(node, {merged(dims, 0, axis), merged(dims, axis, dims.size())});
}

void lower_squeeze(Lowering& node) {
  view(node, squeezed(extents_of(node.shape(0)), node.list("axes", 1, "its axes"), node.all.file_batch));
}

void lower_unsqueeze(Lowering& node) {
  view(node, unsqueezed(extents_of(node.shape(0)),
                        node.list("axes", 1, "its axes").value_or(std::vector<std::int64_t>{})));
}

void lower_identity(Lowering& node) {
  node.set(node.any_in(0));
}

// Floats that the file does not hold are drawn, as a weight of that name, which training leaves as it is.
void lower_constant(Lowering& node) {
  const Attribute* const given = node.node.find("value");
  if (given == nullptr || !given->tensor || !is_float(given->tensor->type)) {
    throw Refused("a constant without numbers");
  }
  Value value;
  value.type = given->tensor->type;
  value.shape = shape_of(Extents(given->tensor->dims.begin(), given->tensor->dims.end()));
  value.parameter = node.node.outputs.front();
  value.trained = false;
  node.set(std::move(value));
}

void lower_dropout(Lowering& node) {
  node.all.assume("Dropout is off.");
  node.same(0);
}

// Between types of floats nothing is converted: a network computes in one type. Of others a mask stays one,
// and token ids stay so.
// Whether the type has each whole number from 0 to below `count`.
bool holds_all(ElementType type, std::int64_t count) {
  switch (type) {
    case ElementType::i8:
      return count <= std::int64_t{1} << 7;
    case ElementType::u8:
    case ElementType::bf16:
      return count <= std::int64_t{1} << 8;
    case ElementType::i16:
      return count <= std::int64_t{1} << 15;
    case ElementType::u16:
      return count <= std::int64_t{1} << 16;
    case ElementType::f16:
      return count <= std::int64_t{1} << 11;
    default:
      return true;
  }
}

void lower_cast(Lowering& node) {
  const auto type = static_cast<ElementType>(
      node.node.op == "Cast" ? integer_of(node.node, "to", 1) : static_cast<std::int64_t>(node.in(1).type));
  Value value = node.in(0);
  const bool narrows = is_float(value.type) && !is_float(type);
  if (narrows && value.layer) {
    throw Refused("it rounds values that depend on data");
  }
  if (node.all.is_tokens(value) && !holds_all(type, node.all.graph.tokens()->vocabulary)) {
    throw Refused("its numbers do not hold all token ids");
  }
  if (type == ElementType::boolean && value.type != type && value.layer) {  // all but 0
    const Value zero =
        joined(node, PointwiseFunction::equal, {value, node.value(Constant::uniform(value.type, {}, 0))});
    value.layer = node.append({*zero.layer}, ActivationOptions{.activation = Activation::linear(-1, 1)});
  }
  value.type = type;
  node.set(std::move(value));
}

// Sizes as a list, of the dimensions from `start` to `end`.
void lower_shape(Lowering& node) {
  const Shape& shape = node.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.rank());
  const auto bound = [&](std::int64_t index) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank));
  };
  const std::size_t first = bound(integer_of(node.node, "start", 0));
  const std::size_t last = bound(integer_of(node.node, "end", rank));
  Constant made{.type = ElementType::i64, .dims = {}, .values = {}};
  for (std::size_t d = first; d < last; ++d) {
    const auto size = static_cast<double>(shape[d].size);
    made.append(shape[d].per_sample ? Number{0, size} : Number{size, 0});
  }
  made.dims = {static_cast<std::int64_t>(made.values.size())};
  if (made.values.empty()) {
    made.values = {0};
  }
  node.set(made);
}

void lower_size(Lowering& node) {
  const Shape& shape = node.shape(0);
  const auto count = static_cast<double>(shape.elements());
  Constant made{.type = ElementType::i64, .dims = {}, .values = {}};
  made.append(shape.batch_dimension() ? Number{0, count} : Number{count, 0});
  node.set(made);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Reshape", lower_reshape},     {"Flatten", lower_flatten},   {"Squeeze", lower_squeeze},
    {"Unsqueeze", lower_unsqueeze}, {"Identity", lower_identity}, {"Constant", lower_constant},
    {"Dropout", lower_dropout},     {"Cast", lower_cast},         {"CastLike", lower_cast},
    {"Shape", lower_shape},         {"Size", lower_size},
};

}  // namespace
}  // namespace bench::kernels::onnx
