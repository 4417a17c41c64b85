// Lists of values, which exist only while the network is imported.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/onnx/lower/batch_apart.h"
#include "kernels/networks/onnx/lower/copies.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::size_t kMostValues = 4096;  // of one list

const std::vector<Value>& list_of(const Lowering& node, std::size_t input) {
  const Value& value = node.any_in(input);
  if (value.sequence == nullptr) {
    throw Refused(fmt::format("its input {} is no sequence", input));
  }
  return *value.sequence;
}

void set_list(Lowering& node, std::vector<Value> values) {
  if (values.size() > kMostValues) {
    throw Refused(fmt::format("a sequence of more than {} values", kMostValues));
  }
  Value made;
  made.sequence = std::make_shared<const std::vector<Value>>(std::move(values));
  node.set(std::move(made));
}

// A place in the list; a negative one is counted from the end, at which one may be added.
std::ptrdiff_t place(const Lowering& node, std::size_t input, std::size_t size, bool adds) {
  const std::int64_t given = node.known(input, "its places").whole();
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t at = given < 0 ? given + count : given;
  if (at < 0 || at >= count + (adds ? 1 : 0)) {
    throw Refused(fmt::format("place {} of a sequence of {}", given, count));
  }
  return static_cast<std::ptrdiff_t>(at);
}

Value part_of(Lowering& node, const Value& value, const Sliced& part) {
  if (!value.is_known()) {
    return node.value(sliced(node, node.all.layer(value), part));
  }
  const std::int64_t scale = value.shape[part.dimension].per_sample ? node.all.file_batch : 1;
  const Constant start = Constant::of({part.start * scale});
  const Constant end = Constant::of({(part.start + part.size) * scale});
  const Constant axis = Constant::of({static_cast<std::int64_t>(part.dimension)});
  return node.value(folded(node, "Slice", {}, {value.constant.get(), &start, &end, &axis}));
}

Value without(Lowering& node, const Value& value, std::size_t axis) {
  Extents dims = extents_of(value.shape);
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  if (value.is_known()) {
    Constant constant = *value.constant;
    constant.dims = dims;
    return node.value(std::move(constant));
  }
  return node.value(node.all.elements(value), shape_of(dims));
}

void lower_to_sequence(Lowering& node) {
  const Value& in = node.in(0);
  const std::size_t axis = node.axis(0);
  const Extent extent = in.shape[axis];
  std::vector<std::int64_t> sizes;
  bool keeps = true;
  if (!node.has(1)) {
    sizes.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(extent.size, 0, kMostValues + 1)), 1);
    keeps = integer_of(node.node, "keepdims", 1) != 0;
  } else if (const Constant& given = node.known(1, "its sizes"); given.dims.empty()) {
    const std::int64_t each = given.whole();
    for (std::int64_t rest = extent.size; rest > 0 && each > 0 && sizes.size() <= kMostValues; rest -= each) {
      sizes.push_back(std::min(each, rest));
    }
  } else if (given.elements() <= static_cast<std::int64_t>(kMostValues)) {
    sizes = given.wholes();
  }
  if (sizes.empty() || sizes.size() > kMostValues) {
    throw Refused(fmt::format("it makes a sequence of no values, or of more than {}", kMostValues));
  }
  const std::int64_t batch = extent.per_sample && node.has(1) ? node.all.file_batch : 1;
  std::vector<Value> parts;
  std::int64_t at = 0;
  for (const std::int64_t size : split_sizes(extent, sizes, sizes.size(), batch)) {
    const Value part =
        sizes.size() == 1 ? in : part_of(node, in, {.dimension = axis, .start = at, .step = 1, .size = size});
    parts.push_back(keeps ? part : without(node, part, axis));
    at += size;
  }
  set_list(node, std::move(parts));
}

void lower_empty(Lowering& node) {
  set_list(node, {});
}

void lower_construct(Lowering& node) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    values.push_back(node.in(i));
  }
  set_list(node, std::move(values));
}

void lower_insert(Lowering& node) {
  std::vector<Value> values = list_of(node, 0);
  const auto size = static_cast<std::ptrdiff_t>(values.size());
  const std::ptrdiff_t at = node.has(2) ? place(node, 2, values.size(), true) : size;
  values.insert(values.begin() + at, node.in(1));
  set_list(node, std::move(values));
}

void lower_erase(Lowering& node) {
  std::vector<Value> values = list_of(node, 0);
  if (values.empty()) {
    throw Refused("it takes a value from an empty sequence");
  }
  const auto last = static_cast<std::ptrdiff_t>(values.size()) - 1;
  values.erase(values.begin() + (node.has(1) ? place(node, 1, values.size(), false) : last));
  set_list(node, std::move(values));
}

void lower_at(Lowering& node) {
  const std::vector<Value>& values = list_of(node, 0);
  node.set(Value(values[static_cast<std::size_t>(place(node, 1, values.size(), false))]));
}

void lower_length(Lowering& node) {
  node.set(Constant::uniform(ElementType::i64, {}, static_cast<double>(list_of(node, 0).size())));
}

void lower_join(Lowering& node) {
  const std::vector<Value>& values = list_of(node, 0);
  const bool stacks = integer_of(node.node, "new_axis", 0) != 0;
  const std::size_t rank = values.empty() ? 0 : values.front().shape.rank();
  const std::size_t axis = axis_of(integer_of(node.node, "axis", 0), rank + (stacks ? 1 : 0));
  node.set(stacks ? stacked(node, values, axis) : concatenated(node, values, axis));
}

const Registration<Lowered> BENCH_REGISTERED{
    {"SequenceEmpty", lower_empty},
    {"SequenceConstruct", lower_construct},
    {"SequenceInsert", lower_insert},
    {"SequenceErase", lower_erase},
    {"SequenceAt", lower_at},
    {"SequenceLength", lower_length},
    {"SplitToSequence", lower_to_sequence},
    {"ConcatFromSequence", lower_join},
};

}  // namespace
}  // namespace bench::kernels::onnx
