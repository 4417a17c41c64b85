// Dimensions after Slice, Split, Squeeze, Unsqueeze and Expand, for known values and others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/constants/evaluate.h"

namespace bench::kernels::onnx {

// The elements of a list of sizes. Throws Refused for more than 64.
std::vector<Number> numbers_of(const Constant& constant);

// The lists of a Slice: attributes in old versions, inputs in new ones. A bound may be a multiple of the
// batch.
struct SliceLists {
  std::vector<Number> starts, ends;
  std::optional<std::vector<std::int64_t>> axes;
  std::vector<std::int64_t> steps;  // empty: 1
};
SliceLists slice_lists(const Evaluation& evaluation);

struct Sliced {
  std::size_t dimension = 0;
  std::int64_t start = 0, step = 1, size = 0;
};
// The dimensions that a Slice changes. Of k · batch elements each sample keeps some of its k; the bounds of
// the file, which holds `file_batch` samples, must be multiples of that. The batch alone stays whole. Throws
// Refused.
std::vector<Sliced> slices_of(const Extents& dims, const SliceLists& lists, const Evaluation& file);

// A Split's results. Throws Refused where its attribute says another number.
std::size_t split_results(const Node& node);
// Their sizes, those of one sample where the dimension is k · batch. Throws Refused where they
// do not add up.
std::vector<std::int64_t> split_sizes(const Extent& extent,
                                      const std::optional<std::vector<std::int64_t>>& sizes,
                                      std::size_t results, std::int64_t file_batch);

Extents unsqueezed(const Extents& dims, const std::vector<std::int64_t>& axes);
// Without axes every dimension of one element goes, except that of the batch.
Extents squeezed(const Extents& dims, const std::optional<std::vector<std::int64_t>>& axes,
                 std::int64_t file_batch);
// Dimensions after Expand; a target that holds the file's batch means the batch.
Extents expanded(const Extents& dims, const std::vector<Number>& target, std::int64_t file_batch);

}  // namespace bench::kernels::onnx
