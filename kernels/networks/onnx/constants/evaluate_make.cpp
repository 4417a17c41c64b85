// Operators that make values of a size, or of what they are told.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/evaluate.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {
namespace {

std::vector<Constant> constant(const Evaluation& evaluation) {
  const Node& node = evaluation.node;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name == "value" && attribute.tensor) {
      const auto value = constant_of(*attribute.tensor, evaluation.budget);
      if (value == nullptr) {
        throw Refused("a constant whose elements are not in the file");
      }
      return {*value};
    }
    if (attribute.name == "value_float") {
      return {Constant::uniform(ElementType::f32, {}, attribute.f.value_or(0))};
    }
    if (attribute.name == "value_int") {
      return {Constant::uniform(ElementType::i64, {}, static_cast<double>(attribute.i.value_or(0)))};
    }
    if (attribute.name == "value_ints") {
      return {Constant::of(attribute.ints)};
    }
    if (attribute.name == "value_floats") {
      Constant made{.type = ElementType::f32,
                    .dims = {static_cast<std::int64_t>(attribute.floats.size())},
                    .values = {}};
      made.values.assign(attribute.floats.begin(), attribute.floats.end());
      return {made};
    }
  }
  throw Refused("a constant without numbers");
}

std::vector<Constant> constant_of_shape(const Evaluation& evaluation) {
  const Constant& shape = evaluation.in(0);
  Extents dims;
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const Number size = shape.number(i);
    if (size.fixed < 0 || size.per_batch < 0 || (size.fixed != 0 && size.per_batch != 0)) {
      throw Refused("a size of its shape is negative, or a sum with the batch");
    }
    dims.emplace_back(to_whole(size.per_batch != 0 ? size.per_batch : size.fixed), size.per_batch != 0);
  }
  elements_of(dims);
  const Attribute* const value = evaluation.node.find("value");
  if (value == nullptr || !value->tensor) {
    return {Constant::uniform(ElementType::f32, dims, 0)};
  }
  const auto element = constant_of(*value->tensor, evaluation.budget);
  if (element == nullptr || element->elements() != 1) {
    throw Refused("a value that is not one number");
  }
  return {Constant::uniform(element->type, dims, element->value(0))};
}

// start, start + delta, … below the limit. One up to the batch counts its samples.
std::vector<Constant> range(const Evaluation& evaluation) {
  const Number start = evaluation.in(0).number(0);
  const Number limit = evaluation.in(1).number(0);
  const Number delta = evaluation.in(2).number(0);
  const bool samples = limit.per_batch != 0;
  if (start.per_batch != 0 || delta.per_batch != 0 ||
      (samples && (start.fixed != 0 || delta.fixed != 1 || limit.fixed != 0))) {
    throw Refused("a range that depends on the batch");
  }
  if (delta.fixed == 0) {
    throw Refused("a range with a step of 0");
  }
  const double last = samples ? limit.per_batch : limit.fixed;
  const double count = std::max(0.0, std::ceil((last - start.fixed) / delta.fixed));
  if (!(count <= static_cast<double>(Budget::kMost))) {
    throw Refused(fmt::format("a range of {} numbers; at most {} are accepted", count, Budget::kMost));
  }
  Constant made{.type = evaluation.in(0).type, .dims = {Extent(to_whole(count), samples)}, .values = {}};
  made.sample_step = samples ? limit.per_batch : 0;
  evaluation.budget.take(to_whole(count));
  for (std::int64_t i = 0; i < to_whole(count); ++i) {
    made.append({start.fixed + static_cast<double>(i) * delta.fixed, 0});
  }
  if (made.values.empty()) {
    made.values = {0};
  }
  return {made};
}

std::vector<Constant> size(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const bool batch = std::ranges::any_of(in.dims, &Extent::per_sample);
  const auto count = static_cast<double>(in.elements());
  Constant made{.type = ElementType::i64, .dims = {}, .values = {}};
  made.append(batch ? Number{0, count} : Number{count, 0});
  return {made};
}

// One triangle of the last two dimensions, the other is 0.
std::vector<Constant> triangle(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  if (in.dims.size() < 2) {
    throw Refused("a triangle of fewer than two dimensions");
  }
  const std::int64_t shift = evaluation.has(1) ? evaluation.in(1).whole() : 0;
  const bool upper = integer_of(evaluation.node, "upper", 1) != 0;
  const std::int64_t columns = in.dims.back().size;
  const std::int64_t rows = in.dims[in.dims.size() - 2].size;
  Constant made{.type = in.type, .dims = in.dims, .values = {}};
  const std::int64_t count = in.elements();
  evaluation.budget.take(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t column = i % columns;
    const std::int64_t row = i / columns % rows;
    const bool kept = upper ? column - row >= shift : column - row <= shift;
    made.append(kept ? in.number(i) : Number{});
  }
  compress(made);
  return {made};
}

std::vector<Constant> eye(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  if (in.dims.size() != 2) {
    throw Refused("a diagonal of another number of dimensions than two");
  }
  const std::int64_t shift = integer_of(evaluation.node, "k", 0);
  const auto type =
      static_cast<ElementType>(integer_of(evaluation.node, "dtype", static_cast<std::int64_t>(in.type)));
  Constant made{.type = type, .dims = in.dims, .values = {}};
  const std::int64_t count = in.elements();
  evaluation.budget.take(count);
  for (std::int64_t i = 0; i < count; ++i) {
    made.append({i % in.dims[1].size - i / in.dims[1].size == shift ? 1.0 : 0.0, 0});
  }
  compress(made);
  return {made};
}

// Indices of the elements that are not zero, a row for each dimension.
std::vector<Constant> non_zero(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::int64_t count = in.elements();
  evaluation.budget.take(count);
  const std::vector<std::int64_t> steps = steps_of(in.dims);
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < count; ++i) {
    if (in.value(i) != 0) {
      found.push_back(i);
    }
  }
  Constant made{.type = ElementType::i64,
                .dims = {static_cast<std::int64_t>(in.dims.size()), static_cast<std::int64_t>(found.size())},
                .values = {}};
  for (std::size_t d = 0; d < steps.size(); ++d) {
    for (const std::int64_t at : found) {
      made.append({static_cast<double>(at / steps[d] % in.dims[d].size), 0});
    }
  }
  if (made.values.empty()) {
    made.values = {0};
  }
  return {made};
}

// For each index a row that is `on` at its place and `off` elsewhere, along a new dimension.
std::vector<Constant> one_hot(const Evaluation& evaluation) {
  const Constant& indices = evaluation.in(0);
  const Constant& values = evaluation.in(2);
  const std::int64_t depth = evaluation.in(1).whole();
  if (depth < 1 || values.elements() != 2 || indices.counts_samples()) {
    throw Refused("rows without elements, other than two values, or rows for the number of the sample");
  }
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", -1), indices.dims.size() + 1);
  Constant made{.type = values.type, .dims = indices.dims, .values = {}};
  made.dims.insert(made.dims.begin() + static_cast<std::ptrdiff_t>(axis), Extent(depth));
  const std::int64_t count = made.elements();
  evaluation.budget.take(count);
  const std::int64_t inner = steps_of(made.dims)[axis];
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index =
        to_whole(without_batch(indices.number(i / (inner * depth) * inner + i % inner)));
    const bool on = (index < 0 ? index + depth : index) == i / inner % depth;
    made.append({values.value(on ? 1 : 0), 0});
  }
  if (count == 0) {
    made.values = {0};
  }
  compress(made);
  return {made};
}

// Rows of the data, of which each index has `depth` numbers, replaced by updates.
std::vector<Constant> scattered(const Evaluation& evaluation, std::size_t depth,
                                const std::vector<std::int64_t>& rows, const Constant& updates) {
  Constant made = evaluation.in(0);
  if (text_of(evaluation.node, "reduction", "none") != "none") {
    throw Refused("updates that are joined with what is there");
  }
  const std::int64_t count = made.elements();
  evaluation.budget.take(count);
  if (made.is_uniform()) {
    made.values.assign(static_cast<std::size_t>(count), made.values.front());
    made.per_batch.clear();
  }
  const std::vector<std::int64_t> steps = steps_of(made.dims);
  const std::int64_t inner = steps[depth - 1];
  if (updates.elements() != static_cast<std::int64_t>(rows.size() / depth) * inner) {
    throw Refused("updates of another size than their places");
  }
  for (std::size_t i = 0; i + depth <= rows.size(); i += depth) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      const std::int64_t index = rows[i + d] < 0 ? rows[i + d] + made.dims[d].size : rows[i + d];
      if (index < 0 || index >= made.dims[d].size) {
        throw Refused("an index beyond its dimension");
      }
      at += index * steps[d];
    }
    for (std::int64_t j = 0; j < inner; ++j) {
      made.values.set(static_cast<std::size_t>(at + j),
                      updates.value(static_cast<std::int64_t>(i / depth) * inner + j));
    }
  }
  compress(made);
  return {made};
}

std::vector<Constant> scatter_nd(const Evaluation& evaluation) {
  const Constant& indices = evaluation.in(1);
  const auto depth = indices.dims.empty() ? 0 : static_cast<std::size_t>(indices.dims.back().size);
  if (depth == 0 || depth > evaluation.in(0).dims.size()) {
    throw Refused("indices of more dimensions than there are");
  }
  return scattered(evaluation, depth, indices.wholes(), evaluation.in(2));
}

// An element for each index, at its place in all dimensions but one.
std::vector<Constant> scatter_elements(const Evaluation& evaluation) {
  const Constant& indices = evaluation.in(1);
  const std::size_t rank = evaluation.in(0).dims.size();
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), rank);
  if (indices.dims.size() != rank) {
    throw Refused("indices of another number of dimensions");
  }
  const std::int64_t count = indices.elements();
  evaluation.budget.take(elements_of({count, static_cast<std::int64_t>(rank)}));
  const std::vector<std::int64_t> steps = steps_of(indices.dims);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < rank; ++d) {
      rows.push_back(d == axis ? to_whole(without_batch(indices.number(i)))
                               : i / steps[d] % indices.dims[d].size);
    }
  }
  return scattered(evaluation, rank, rows, evaluation.in(2));
}

// The index along each dimension by itself, repeated to the updates' places.
std::vector<Constant> scatter_grid(const Evaluation& evaluation) {
  const Constant& updates = evaluation.in(1);
  const std::size_t depth = evaluation.inputs.size() - 2;
  const std::size_t rank = evaluation.in(0).dims.size();
  if (depth == 0 || depth > rank || updates.dims.size() < rank - depth) {
    throw Refused("indices of more dimensions than there are");
  }
  const Extents dims(updates.dims.begin(), updates.dims.end() - static_cast<std::ptrdiff_t>(rank - depth));
  const std::int64_t count = elements_of(dims);
  evaluation.budget.take(elements_of({count, static_cast<std::int64_t>(depth)}));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count) * depth);
  const std::vector<std::int64_t> steps = steps_of(dims);
  for (std::size_t i = 0; i < depth; ++i) {
    const Constant& indices = evaluation.in(i + 2);
    if (indices.dims.size() > dims.size() || elements_of(broadcast(indices.dims, dims)) != count) {
      throw Refused("updates of another size than their places");
    }
    const std::vector<std::int64_t> own = steps_of(indices.dims);
    const std::size_t missing = dims.size() - indices.dims.size();
    for (std::int64_t row = 0; row < count; ++row) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < indices.dims.size(); ++d) {
        at += indices.dims[d].size == 1 ? 0 : row / steps[d + missing] % dims[d + missing].size * own[d];
      }
      rows[static_cast<std::size_t>(row) * depth + i] = to_whole(indices.value(at));
    }
  }
  return scattered(evaluation, depth, rows, updates);
}

const Registration<ConstantOperator> BENCH_REGISTERED{
    {"Constant", constant},
    {"ConstantOfShape", constant_of_shape},
    {"Range", range},
    {"Size", size},
    {"Trilu", triangle},
    {"EyeLike", eye},
    {"NonZero", non_zero},
    {"OneHot", one_hot},
    {"ScatterND", scatter_nd},
    {"ScatterElements", scatter_elements},
    {"bench.ScatterGrid", scatter_grid},
};

}  // namespace
}  // namespace bench::kernels::onnx
