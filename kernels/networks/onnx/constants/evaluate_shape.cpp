// Operators that move elements.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/evaluate.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/refused.h"
#include "kernels/networks/onnx/constants/slices.h"

namespace bench::kernels::onnx {
namespace {

Constant as(const Constant& input, Extents dims) {
  Constant made = input;
  made.dims = std::move(dims);
  return made;
}

// So many numbers like an input's as the budget counts them, in four bytes each: small integers take two.
// More numbers than one constant may have are counted as they are, which is refused.
std::int64_t as_held(const Constant& input, std::int64_t count) {
  constexpr std::int64_t kBytes = 4;
  const auto bytes = static_cast<std::int64_t>(input.values.bytes());
  const auto numbers = static_cast<std::int64_t>(input.values.size());
  return count > Budget::kMost || numbers == 0 ? count : count * bytes / numbers / kBytes + 1;
}

// The result's element at index i, by dimensions, is the input's at Σ steps[d] · i[d] + first.
Constant strided(const Evaluation& evaluation, const Constant& input, const Extents& dims,
                 const std::vector<std::int64_t>& steps, std::int64_t first = 0) {
  const std::int64_t count = elements_of(dims);
  if (input.is_uniform()) {
    return picked(input, dims, {});
  }
  evaluation.budget.take(as_held(input, count));
  Constant made{.type = input.type, .dims = dims, .values = {}};
  made.sample_step = input.sample_step;
  made.values.reserve(static_cast<std::size_t>(count));
  const bool plain = input.per_batch.empty();
  std::vector<std::int64_t> index(dims.size(), 0);
  std::int64_t at = first;
  for (std::int64_t i = 0; i < count; ++i) {
    if (plain) {
      made.values.push_back(input.values[static_cast<std::size_t>(at)]);
    } else {
      made.append(input.number(at));
    }
    for (std::size_t d = dims.size(); d-- > 0;) {
      at += steps[d];
      if (++index[d] < dims[d].size) {
        break;
      }
      at -= steps[d] * dims[d].size;
      index[d] = 0;
    }
  }
  compress(made);
  return made;
}

std::vector<Constant> identity(const Evaluation& evaluation) {
  return {evaluation.in(0)};
}

std::vector<Constant> reshape(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::vector<Number> target =
      evaluation.opset < 5 ? numbers_of(Constant::of(
                                 integers_of(evaluation.node, "shape").value_or(std::vector<std::int64_t>{})))
                           : numbers_of(evaluation.in(1));
  return {as(in, reshaped(in.dims, target, integer_of(evaluation.node, "allowzero", 0) != 0,
                          evaluation.file_batch))};
}

std::vector<Constant> flatten(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::int64_t given = integer_of(evaluation.node, "axis", 1);
  const auto rank = static_cast<std::int64_t>(in.dims.size());
  const auto axis =
      static_cast<std::size_t>(std::clamp<std::int64_t>(given < 0 ? given + rank : given, 0, rank));
  return {as(in, {merged(in.dims, 0, axis), merged(in.dims, axis, in.dims.size())})};
}

std::vector<Constant> unsqueeze(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  return {as(in, unsqueezed(in.dims, evaluation.list("axes", 1).value_or(std::vector<std::int64_t>{})))};
}

std::vector<Constant> squeeze(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  return {as(in, squeezed(in.dims, evaluation.list("axes", 1), evaluation.file_batch))};
}

std::vector<Constant> transpose(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::size_t rank = in.dims.size();
  std::vector<std::int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  order = integers_of(evaluation.node, "perm").value_or(order);
  if (order.size() != rank) {
    throw Refused("an order of other dimensions");
  }
  const std::vector<std::int64_t> own = steps_of(in.dims);
  Extents dims;
  std::vector<std::int64_t> steps;
  for (const std::int64_t each : order) {
    const std::size_t axis = axis_of(each, rank);
    dims.push_back(in.dims[axis]);
    steps.push_back(own[axis]);
  }
  if (elements_of(dims) != in.elements()) {
    throw Refused("an order that repeats a dimension");
  }
  return {strided(evaluation, in, dims, steps)};
}

std::vector<Constant> slice(const Evaluation& evaluation) {
  Constant made = evaluation.in(0);
  const auto lists = slice_lists(evaluation);
  for (const Sliced& part : slices_of(made.dims, lists, evaluation)) {
    std::vector<std::int64_t> steps = steps_of(made.dims);
    Extents dims = made.dims;
    const std::int64_t first = part.start * steps[part.dimension];
    steps[part.dimension] *= part.step;
    dims[part.dimension].size = part.size;
    made = strided(evaluation, made, dims, steps, part.size > 0 ? first : 0);
  }
  return {made};
}

std::vector<Constant> split(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  std::vector<Constant> parts;
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), in.dims.size());
  std::int64_t at = 0;
  for (const std::int64_t size : split_sizes(in.dims[axis], evaluation.list("split", 1),
                                             split_results(evaluation.node), evaluation.file_batch)) {
    const std::vector<std::int64_t> steps = steps_of(in.dims);
    Extents dims = in.dims;
    dims[axis].size = size;
    parts.push_back(strided(evaluation, in, dims, steps, size > 0 ? at * steps[axis] : 0));
    at += size;
  }
  return parts;
}

std::vector<Constant> concat(const Evaluation& evaluation) {
  const Constant& first = evaluation.in(0);
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), first.dims.size());
  Constant made{.type = first.type, .dims = first.dims, .values = {}};
  made.dims[axis] = 0;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) {
    outer *= first.dims[d].size;
  }
  for (std::size_t i = 0; i < evaluation.inputs.size(); ++i) {
    const Constant& in = evaluation.in(i);
    if (in.dims.size() != made.dims.size() || in.dims[axis].per_sample) {
      throw Refused("a concatenation of values that do not fit each other");
    }
    made.sample_step = in.counts_samples() ? in.sample_step : made.sample_step;
    for (std::size_t d = 0; d < made.dims.size(); ++d) {
      if (d != axis && in.dims[d].size != made.dims[d].size) {
        throw Refused("a concatenation of values that do not fit each other");
      }
      made.dims[d].per_sample |= in.dims[d].per_sample;
    }
    made.dims[axis].size += in.dims[axis].size;
  }
  std::int64_t held = 0;
  bool plain = true;
  std::vector<std::int64_t> counts;  // of a row of each input
  for (const Constant* const in : evaluation.inputs) {
    held += as_held(*in, in->elements());
    plain = plain && in->per_batch.empty();
    counts.push_back(in->elements() / std::max<std::int64_t>(1, outer));
  }
  evaluation.budget.take(made.elements() > Budget::kMost ? made.elements() : held);
  made.values.reserve(static_cast<std::size_t>(made.elements()));
  for (std::int64_t row = 0; row < outer; ++row) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Constant& in = *evaluation.inputs[i];
      for (std::int64_t j = 0; j < counts[i]; ++j) {
        if (plain) {
          made.values.push_back(in.value(row * counts[i] + j));
        } else {
          made.append(in.number(row * counts[i] + j));
        }
      }
    }
  }
  if (made.values.empty()) {
    made.values = {0};
  }
  compress(made);
  return {made};
}

std::vector<Constant> expand(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const Extents dims = expanded(in.dims, numbers_of(evaluation.in(1)), evaluation.file_batch);
  const std::vector<std::int64_t> own = steps_of(in.dims);
  std::vector<std::int64_t> steps(dims.size(), 0);
  for (std::size_t d = 0; d < in.dims.size(); ++d) {
    steps[d + dims.size() - in.dims.size()] = in.dims[d].size == 1 ? 0 : own[d];
  }
  return {strided(evaluation, in, dims, steps)};
}

std::vector<Constant> tile(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::vector<Number> repeats = numbers_of(evaluation.in(1));
  if (repeats.size() != in.dims.size()) {
    throw Refused("repetitions of other dimensions");
  }
  // Each dimension as repetitions of the whole one.
  Extents dims;
  Extents result;
  std::vector<std::int64_t> steps;
  const std::vector<std::int64_t> own = steps_of(in.dims);
  for (std::size_t d = 0; d < in.dims.size(); ++d) {
    const bool batch = repeats[d].per_batch != 0;
    if (batch && (in.dims[d] != Extent(1) || repeats[d].fixed != 0)) {
      throw Refused("repetitions by the batch of more than one element");
    }
    const std::int64_t times = to_whole(batch ? repeats[d].per_batch : repeats[d].fixed);
    dims.insert(dims.end(), {Extent(times), Extent(in.dims[d].size)});
    steps.insert(steps.end(), {0, own[d]});
    result.emplace_back(elements_of({times, in.dims[d].size}), batch || in.dims[d].per_sample);
  }
  return {as(strided(evaluation, in, dims, steps), result)};
}

// Elements of a dimension by indices of any shape.
std::vector<Constant> gather(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const Constant& indices = evaluation.in(1);
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), in.dims.size());
  Extents dims(in.dims.begin(), in.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), in.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, in.dims.end());
  const std::int64_t count = elements_of(dims);
  const std::int64_t extent = in.dims[axis].size;
  const std::int64_t inner = steps_of(in.dims)[axis];
  const std::vector<std::int64_t> rows = indices.wholes();
  for (const std::int64_t row : rows) {
    if (row < -extent || row >= extent) {
      throw Refused(fmt::format("index {} of a dimension of {}", row, extent));
    }
  }
  std::vector<std::int64_t> from;
  if (!in.is_uniform()) {
    evaluation.budget.take(count);
    for (std::int64_t outer = 0; outer < in.elements() / std::max<std::int64_t>(1, extent * inner); ++outer) {
      for (const std::int64_t row : rows) {
        for (std::int64_t i = 0; i < inner; ++i) {
          from.push_back((outer * extent + (row < 0 ? row + extent : row)) * inner + i);
        }
      }
    }
  }
  return {picked(in, dims, from)};
}

std::vector<Constant> gather_elements(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const Constant& indices = evaluation.in(1);
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), in.dims.size());
  if (indices.dims.size() != in.dims.size()) {
    throw Refused("indices of another number of dimensions");
  }
  const std::vector<std::int64_t> rows = indices.wholes();
  const std::vector<std::int64_t> own = steps_of(in.dims);
  const std::vector<std::int64_t> steps = steps_of(indices.dims);
  evaluation.budget.take(indices.elements());
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t at = 0;
    for (std::size_t d = 0; d < steps.size(); ++d) {
      std::int64_t index = rest / steps[d];
      rest %= steps[d];
      if (d == axis) {
        index = rows[i] < 0 ? rows[i] + in.dims[d].size : rows[i];
      }
      if (index < 0 || index >= in.dims[d].size) {
        throw Refused("an index beyond its dimension");
      }
      at += index * own[d];
    }
    from.push_back(at);
  }
  Extents dims = indices.dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    dims[d].per_sample |= d != axis && in.dims[d].per_sample;
  }
  return {picked(in, dims, from)};
}

std::vector<Constant> gather_nd(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const Constant& indices = evaluation.in(1);
  if (integer_of(evaluation.node, "batch_dims", 0) != 0 || indices.dims.empty()) {
    throw Refused("indices with batch dimensions");
  }
  const auto depth = static_cast<std::size_t>(indices.dims.back().size);
  if (depth == 0 || depth > in.dims.size()) {
    throw Refused("indices of more dimensions than there are");
  }
  Extents dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.insert(dims.end(), in.dims.begin() + static_cast<std::ptrdiff_t>(depth), in.dims.end());
  const std::vector<std::int64_t> own = steps_of(in.dims);
  std::int64_t inner = 1;
  for (std::size_t d = depth; d < in.dims.size(); ++d) {
    inner *= in.dims[d].size;
  }
  const std::vector<std::int64_t> rows = indices.wholes();
  evaluation.budget.take(elements_of(dims));
  std::vector<std::int64_t> from;
  for (std::size_t i = 0; i + depth <= rows.size(); i += depth) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < depth; ++d) {
      const std::int64_t index = rows[i + d] < 0 ? rows[i + d] + in.dims[d].size : rows[i + d];
      if (index < 0 || index >= in.dims[d].size) {
        throw Refused("an index beyond its dimension");
      }
      at += index * own[d];
    }
    for (std::int64_t j = 0; j < inner; ++j) {
      from.push_back(at + j);
    }
  }
  Constant made = picked(in, dims, from);
  return {made};
}

const Registration<ConstantOperator> BENCH_REGISTERED{
    {"Identity", identity},   {"Dropout", identity},
    {"Reshape", reshape},     {"Flatten", flatten},
    {"Unsqueeze", unsqueeze}, {"Squeeze", squeeze},
    {"Transpose", transpose}, {"Slice", slice},
    {"Split", split},         {"Concat", concat},
    {"Expand", expand},       {"Tile", tile},
    {"Gather", gather},       {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
};

}  // namespace
}  // namespace bench::kernels::onnx
