// Operators that join elements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/evaluate.h"
#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {
namespace {

using Join = Number (*)(const Number&, const Number&);

// Joins along the axes; `mean` divides by how many there were.
std::vector<Constant> reduced(const Evaluation& evaluation, const Number& start, Join join,
                              bool mean = false) {
  const Constant& in = evaluation.in(0);
  const auto axes = evaluation.list("axes", 1);
  const bool none = !axes || axes->empty();
  std::vector<bool> gone(in.dims.size(), none && integer_of(evaluation.node, "noop_with_empty_axes", 0) == 0);
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>{})) {
    gone[axis_of(axis, in.dims.size())] = true;
  }
  Extents kept;
  Extents dims;
  for (std::size_t d = 0; d < gone.size(); ++d) {
    if (gone[d] && in.dims[d].per_sample) {
      throw Refused("it joins the samples of a batch");
    }
    kept.push_back(gone[d] ? Extent(1) : in.dims[d]);
    if (!gone[d] || integer_of(evaluation.node, "keepdims", 1) != 0) {
      dims.push_back(kept.back());
    }
  }
  const std::int64_t count = in.elements();
  evaluation.budget.take(count);
  std::vector<Number> results(static_cast<std::size_t>(elements_of(kept)), start);
  const std::vector<std::int64_t> own = steps_of(in.dims);
  const std::vector<std::int64_t> to = steps_of(kept);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < own.size(); ++d) {
      at += gone[d] ? 0 : i / own[d] % in.dims[d].size * to[d];
    }
    Number& result = results[static_cast<std::size_t>(at)];
    result = join(result, in.number(i));
  }
  Constant made{.type = in.type, .dims = dims, .values = {}};
  const double each = results.empty() ? 1 : static_cast<double>(count) / static_cast<double>(results.size());
  for (const Number& result : results) {
    made.append(mean ? Number{result.fixed / each, result.per_batch / each} : result);
  }
  if (made.values.empty()) {
    made.values = {0};
  }
  compress(made);
  return {made};
}

Number larger(const Number& a, const Number& b) {
  return {std::max(without_batch(a), without_batch(b)), 0};
}
Number smaller(const Number& a, const Number& b) {
  return {std::min(without_batch(a), without_batch(b)), 0};
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Constant> reduce_sum(const Evaluation& evaluation) {
  return reduced(evaluation, {0, 0}, added);
}
std::vector<Constant> reduce_mean(const Evaluation& evaluation) {
  return reduced(evaluation, {0, 0}, added, true);
}
std::vector<Constant> reduce_product(const Evaluation& evaluation) {
  return reduced(evaluation, {1, 0}, multiplied);
}
std::vector<Constant> reduce_maximum(const Evaluation& evaluation) {
  return reduced(evaluation, {-kInfinity, 0}, larger);
}
std::vector<Constant> reduce_minimum(const Evaluation& evaluation) {
  return reduced(evaluation, {kInfinity, 0}, smaller);
}

std::vector<Constant> cumulative_sum(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::size_t axis = axis_of(evaluation.in(1).whole(), in.dims.size());
  if (in.dims[axis].per_sample || integer_of(evaluation.node, "exclusive", 0) != 0 ||
      integer_of(evaluation.node, "reverse", 0) != 0) {
    throw Refused("a running sum of another kind than forward along a dimension without the batch");
  }
  const std::int64_t count = in.elements();
  evaluation.budget.take(count);
  const std::int64_t step = steps_of(in.dims)[axis];
  Constant made{.type = in.type, .dims = in.dims, .values = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const bool first = i / step % in.dims[axis].size == 0;
    made.values.push_back(without_batch(in.number(i)) +
                          (first ? 0 : made.values[static_cast<std::size_t>(i - step)]));
  }
  compress(made);
  return {made};
}

// Index of the largest element; of several the first, or as the node says the last.
std::vector<Constant> arg_max(const Evaluation& evaluation) {
  const Constant& in = evaluation.in(0);
  const std::size_t axis = axis_of(integer_of(evaluation.node, "axis", 0), in.dims.size());
  if (in.dims[axis].per_sample) {
    throw Refused("it compares the samples of a batch");
  }
  const bool last = integer_of(evaluation.node, "select_last_index", 0) != 0;
  const std::int64_t step = steps_of(in.dims)[axis];
  const std::int64_t extent = in.dims[axis].size;
  Constant made{.type = ElementType::i64, .dims = in.dims, .values = {}};
  made.dims[axis].size = 1;
  evaluation.budget.take(in.elements());
  for (std::int64_t outer = 0; outer < in.elements() / std::max<std::int64_t>(1, step * extent); ++outer) {
    for (std::int64_t inner = 0; inner < step; ++inner) {
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < extent; ++i) {
        const auto value = [&](std::int64_t at) {
          return without_batch(in.number((outer * extent + at) * step + inner));
        };
        best = value(i) > value(best) || (last && value(i) == value(best)) ? i : best;
      }
      made.append({static_cast<double>(best), 0});
    }
  }
  if (integer_of(evaluation.node, "keepdims", 1) == 0) {
    made.dims.erase(made.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  if (made.values.empty()) {
    made.values = {0};
  }
  compress(made);
  return {made};
}

const Registration<ConstantOperator> BENCH_REGISTERED{
    {"ReduceSum", reduce_sum},     {"ReduceMean", reduce_mean},   {"ReduceProd", reduce_product},
    {"ReduceMax", reduce_maximum}, {"ReduceMin", reduce_minimum}, {"CumSum", cumulative_sum},
    {"ArgMax", arg_max},
};

}  // namespace
}  // namespace bench::kernels::onnx
