// Elements of a dimension in the order of a list, in which any may be missing or repeated, and the gradient:
//   forward:  dst[o, i, :] = src[o, indices[i], :]
//   backward: diff_src[o, j, :] = Σ over the i with indices[i] = j of diff_dst[o, i, :]
// The list is known when the operation is made. Values lie in the order of their dimensions: `outer` is what
// lies before the dimension, `inner` what lies after it.
//
// Slots. forward: src → dst.   backward: diff_dst → diff_src.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// The layer's options in a network.
struct GatherOptions {
  std::size_t dimension = 0;            // counted from the outermost
  std::vector<std::int32_t> indices{};  // below 0: counted from the end
};

struct Gather {
  static constexpr std::string_view kName = "gather";
  std::int64_t outer = 1;
  std::int64_t extent = 1;  // of the dimension in src
  std::int64_t inner = 1;
  std::vector<std::int32_t> indices{};  // from 0 to below extent
  Direction direction = Direction::forward;
  Dtype dtype = Dtype::fp32;

  bool forward() const { return direction == Direction::forward; }
  std::int64_t count() const { return static_cast<std::int64_t>(indices.size()); }
  TensorDesc src() const { return {outer, extent, inner, 1, Layout::nchw, dtype}; }
  TensorDesc dst() const { return {outer, count(), inner, 1, Layout::nchw, dtype}; }
  double flops() const { return forward() ? 0 : static_cast<double>(dst().elements()); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Gather&) const = default;
};

PlainSlots plain_slots(const Gather& spec);

// The places of the list by what they name, ascending, those of one element in their order.
struct GatheredPlace {
  std::int32_t index = 0;  // in the dimension of src
  std::int32_t place = 0;  // in the list
};
std::vector<GatheredPlace> sorted_places(const Gather& spec);

}  // namespace bench::kernels
