#include "kernels/networks/onnx/lower/one_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace bench::kernels::onnx {
namespace {

constexpr std::array<std::string_view, 20> kBroadcasting{
    "Add",   "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
    "Mean",  "Min", "Mod", "Mul",   "Or",      "PRelu",          "Pow",  "Sub",         "Sum",
    "Where", "Xor"};

// One sample's part of a constant along a dimension of all samples; nullopt: they differ, or are unknown.
std::optional<Value> part_of_sample(Importing& all, const Value& value, std::size_t dimension) {
  const Constant* const constant = value.constant.get();
  if (constant == nullptr || value.layer || value.transposed || value.has_batch() ||
      !constant->per_batch.empty() || constant->counts_samples()) {
    return std::nullopt;
  }
  const std::int64_t samples = all.file_batch;
  const Extent& own = constant->dims[dimension];
  const std::int64_t elements = constant->elements();
  if (elements == 0 || own.size % samples != 0) {
    return std::nullopt;
  }
  std::int64_t before = 1;
  for (std::size_t d = 0; d < dimension; ++d) {
    before *= constant->dims[d].size;
  }
  const std::int64_t block = elements / before;  // of all samples
  const std::int64_t each = block / samples;
  Constant part{.type = constant->type, .dims = constant->dims, .values = {}};
  part.dims[dimension].size = own.size / samples;
  if (constant->is_uniform()) {
    part.values = constant->values;
  } else {
    all.budget.take(elements);  // of time: what is made replaces it
    all.budget.give_back(elements);
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::int64_t first = i / block * block + i % each;
      const double is = constant->value(i);
      if (const double was = constant->value(first); is != was && !(std::isnan(is) && std::isnan(was))) {
        return std::nullopt;
      }
      if (i == first) {
        part.values.push_back(is);
      }
    }
  }
  Value made = value;
  made.parameter.clear();
  made.padded = nullptr;
  made.shape = shape_of(part.dims);
  made.constant = std::make_shared<const Constant>(std::move(part));
  return made;
}

const Value* given(const Lowering& node, std::size_t input) {
  return node.has(input) && node.any_in(input).sequence == nullptr ? &node.in(input) : nullptr;
}

// `along`: the dimension in which an input would meet a value's batch; nullopt: in none.
template <class Along>
void meet(Lowering& node, const Along& along) {
  const Value* met = nullptr;  // the first of any batch
  for (std::size_t i = 0; i < node.inputs() && met == nullptr; ++i) {
    const Value* const value = given(node, i);
    met = value != nullptr && value->has_batch() ? value : nullptr;
  }
  if (met == nullptr) {
    return;
  }
  const std::size_t batch = *met->shape.batch_dimension();
  const std::int64_t size = met->shape[batch].size * node.all.file_batch;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    const Value* const value = given(node, i);
    const auto dimension = value == nullptr ? std::nullopt : along(*value, *met, batch);
    if (dimension && value->shape[*dimension] == Extent(size)) {
      if (auto part = part_of_sample(node.all, *value, *dimension)) {
        node.replace(i, std::move(*part));
      }
    }
  }
}

// Rows that are looked up, or multiplied with weights, for each sample.
void make_rows(Lowering& node, std::size_t input, std::size_t other) {
  const Value* const rows = given(node, input);
  const Value* const weights = given(node, other);
  if (rows == nullptr || weights == nullptr || !rows->is_known() || weights->has_batch() ||
      !weights->is_weight() || rows->shape.rank() < 2 || rows->shape[0] != Extent(node.all.file_batch)) {
    return;
  }
  if (auto part = part_of_sample(node.all, *rows, 0)) {
    Constant constant = *part->constant;
    constant.dims[0] = kBatch;
    part->shape = shape_of(constant.dims);
    part->constant = std::make_shared<const Constant>(std::move(constant));
    node.replace(input, std::move(*part));
  }
}

}  // namespace

void take_one_sample(Lowering& node) {
  if (node.all.batch_is_free || node.all.file_batch < 2 || !node.node.domain.empty()) {
    return;
  }
  const std::string& op = node.node.op;
  if (std::ranges::find(kBroadcasting, op) != kBroadcasting.end()) {
    meet(node, [](const Value& value, const Value& met, std::size_t batch) {
      const std::size_t from_end = met.shape.rank() - batch;
      return from_end <= value.shape.rank() ? std::optional(value.shape.rank() - from_end) : std::nullopt;
    });
  } else if (op == "Concat") {
    meet(node, [&](const Value& value, const Value& met, std::size_t batch) {
      const bool fits = value.shape.rank() == met.shape.rank() &&
                        axis_of(integer_of(node.node, "axis", 0), met.shape.rank()) != batch;
      return fits ? std::optional(batch) : std::nullopt;
    });
  } else if (op == "Gather" && integer_of(node.node, "axis", 0) == 0) {
    make_rows(node, 1, 0);
  } else if (op == "MatMul" || (op == "Gemm" && integer_of(node.node, "transA", 0) == 0)) {
    make_rows(node, 0, 1);
  }
}

}  // namespace bench::kernels::onnx
