// A function of one element of each input, whose dimensions are aligned from the last on: an input is
// repeated along dimensions that it lacks, or where it has one element, as NumPy broadcasts.
//
//   dst[i] = f(src[i], src1[i], …)
//
// Masks are values: 1 where they hold, 0 where not; every value but 0 holds.
// backward: the gradient of input `index`, each element's a sum over where it was repeated:
//
//   diff_src[j] = Σ diff_dst[i] · ∂f/∂(input `index`) at i
//
// It reads the inputs that the derivative depends on (reads()). Comparisons and logic have the derivative 0;
// of two equal elements, a maximum or a minimum is the first.
//
// Slots. forward:  src, src1, and of `where` src2 → dst.
//        backward: those that are read, diff_dst → diff_src.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/array.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// Of a and b; where: a holds ? b : c. prelu: a where that is positive, else a · b.
enum class PointwiseFunction {
  add,
  subtract,
  multiply,
  divide,
  power,
  maximum,
  minimum,
  prelu,
  equal,
  less,
  less_or_equal,
  logical_and,
  logical_or,
  logical_xor,
  where,
};

std::string_view name_of(PointwiseFunction function);
constexpr bool has_gradient(PointwiseFunction function) {
  return function < PointwiseFunction::equal || function == PointwiseFunction::where;
}
// Whether the derivative by input `index` depends on `input`.
constexpr bool slope_reads(PointwiseFunction function, std::size_t index, std::size_t input) {
  using F = PointwiseFunction;
  switch (function) {
    case F::multiply:
      return input != index;
    case F::divide:
      return input == 1 || index == 1;
    case F::power:
    case F::maximum:
    case F::minimum:
      return true;
    case F::prelu:
      return input == 0 || index == 0;
    case F::where:
      return input == 0;
    default:
      return false;
  }
}

struct Pointwise {
  static constexpr std::string_view kName = "pointwise";
  PointwiseFunction function = PointwiseFunction::add;
  std::vector<Array> inputs;
  Array dst;
  Direction direction = Direction::forward;
  std::size_t index = 0;  // backward: of which input

  bool forward() const { return direction == Direction::forward; }
  // Whether the pass reads that input.
  bool reads(std::size_t input) const { return forward() || slope_reads(function, index, input); }
  // One operation an element, and of a gradient the product and the sum.
  double flops() const { return static_cast<double>(dst.dims.elements()) * (forward() ? 1 : 3); }
  std::optional<std::string> invalid() const;

  // What the pass writes, and the nests over it: array 0 is written, the others are in the order of
  // operands().
  const Array& written() const { return forward() ? dst : inputs[index]; }
  std::vector<Slot> operands() const;
  std::vector<LoopNest> nests() const;

  bool operator==(const Pointwise&) const = default;
};

PlainSlots plain_slots(const Pointwise& spec);

}  // namespace bench::kernels
