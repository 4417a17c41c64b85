// Joins the elements of an array along some of its dimensions: dst has one element there.
//
//   dst[j] = join of src[i] over all i that are j but for the dimensions where dst has one element
//
// sum, mean, maximum, minimum, product; sum_of_squares, and l2, its root.
// backward:
//   diff_src[i] = diff_dst[j] · ∂dst[j]/∂src[i]
// It reads diff_dst, and src and dst unless a sum or a mean is made. A maximum or a minimum has none here:
// the elements that are it share its gradient, for which they are counted (the layer does that).
//
// Slots. forward:  src → dst.
//        backward: src, dst, diff_dst → diff_src.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/array.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

enum class ReduceFunction { sum, mean, maximum, minimum, product, sum_of_squares, l2 };

std::string_view name_of(ReduceFunction function);
constexpr bool is_linear(ReduceFunction function) {
  return function == ReduceFunction::sum || function == ReduceFunction::mean;
}

struct Reduce {
  static constexpr std::string_view kName = "reduce";
  ReduceFunction function = ReduceFunction::sum;
  Array src;
  Array dst;  // of src's rank
  Direction direction = Direction::forward;

  bool forward() const { return direction == Direction::forward; }
  bool is_linear() const { return kernels::is_linear(function); }
  // How many elements are one of dst.
  std::int64_t each() const { return src.dims.elements() / dst.dims.elements(); }
  double flops() const { return static_cast<double>(src.dims.elements()) * (is_linear() ? 1 : 2); }
  std::optional<std::string> invalid() const;

  const Array& written() const { return forward() ? dst : src; }
  // Array 0 is written: dst; or diff_src, of diff_dst and, unless it is linear, src and dst.
  std::vector<LoopNest> nests() const;

  bool operator==(const Reduce&) const = default;
};

PlainSlots plain_slots(const Reduce& spec);

}  // namespace bench::kernels
