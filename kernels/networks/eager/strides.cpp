#include "kernels/networks/eager/strides.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "kernels/networks/graph/array_options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kBatchSize = 2;

std::int64_t elements(std::span<const Strides::Dim> dims) {
  std::int64_t count = 1;
  for (const Strides::Dim& dim : dims) {
    count *= dim.size;
  }
  return count;
}

}  // namespace

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    sizes.push_back(shape[d].at(kBatchSize));
  }
  return sizes;
}

Strides Strides::dense(const Shape& shape) {
  Strides strides;
  for (const std::int64_t size : sizes_of(shape)) {
    strides.dims.push_back({size, 0});
  }
  std::int64_t stride = 1;
  for (std::size_t d = shape.rank(); d-- > 0; stride *= strides.dims[d].size) {
    strides.dims[d].stride = stride;
  }
  return strides;
}

Strides Strides::made_dense() const {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t d) { return dims[d].stride; });
  Strides made = *this;
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0; stride *= dims[order[i]].size) {
    made.dims[order[i]].stride = stride;
  }
  return made;
}

// Dimensions that lie one behind the other are one run, which the new ones are cut from, the last first.
std::optional<Strides> Strides::reshaped(const std::vector<std::int64_t>& sizes) const {
  std::vector<Dim> runs;
  for (const Dim& dim : dims) {
    if (dim.size == 1) {
      continue;
    }
    if (!runs.empty() && runs.back().stride == dim.stride * dim.size) {
      runs.back() = {runs.back().size * dim.size, dim.stride};
    } else {
      runs.push_back(dim);
    }
  }
  Strides made;
  made.dims.resize(sizes.size());
  Dim left{1, 1};
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] > 1 && left.size == 1 && !runs.empty()) {
      left = runs.back();
      runs.pop_back();
    }
    if (left.size % sizes[d] != 0) {
      return std::nullopt;
    }
    made.dims[d] = {sizes[d], left.stride};
    left = {left.size / sizes[d], left.stride * sizes[d]};
  }
  return left.size == 1 && runs.empty() ? std::optional(made) : std::nullopt;
}

bool Strides::are_matrices() const {
  if (dims.size() < 2) {
    return true;
  }
  const Dim& rows = dims[dims.size() - 2];
  const Dim& columns = dims.back();
  const bool in_order = rows.stride == 1 || columns.stride == 1 || rows.size == 1 || columns.size == 1;
  const std::int64_t matrices = elements(std::span(dims).first(dims.size() - 2));
  return in_order && reshaped({matrices, rows.size, columns.size}).has_value();
}

bool Strides::are_rows() const {
  return dims.empty() ||
         reshaped({elements(std::span(dims).first(dims.size() - 1)), dims.back().size}).has_value();
}

std::optional<Strides> viewed(const Node& node, const Strides& input) {
  if (const auto* const transpose = options_of<TransposeOptions>(node)) {
    Strides made = input;
    std::ranges::transform(transpose->order, made.dims.begin(), [&](std::size_t d) { return input.dims[d]; });
    return made;
  }
  if (const auto* const slice = options_of<SliceOptions>(node); slice != nullptr && slice->step > 0) {
    Strides made = input;
    Strides::Dim& along = made.dims[slice->dimension];
    along = {slice->size, along.stride * slice->step};
    return made;
  }
  if (options_of<ExpandOptions>(node) != nullptr) {
    Strides made = Strides::dense(node.shape);
    const std::size_t lacking = made.dims.size() - input.dims.size();
    for (std::size_t d = 0; d < made.dims.size(); ++d) {
      const bool kept = d >= lacking && input.dims[d - lacking].size == made.dims[d].size;
      made.dims[d].stride = kept ? input.dims[d - lacking].stride : 0;
    }
    return made;
  }
  return node.is("reshape") || node.is("flatten") ? input.reshaped(sizes_of(node.shape)) : std::nullopt;
}

}  // namespace bench::kernels
