// Pointwise functions as they are defined in pointwise.h, in double.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/pointwise/pointwise.h"

namespace bench::kernels {

std::string_view name_of(PointwiseFunction function) {
  constexpr std::array kNames{"add",           "subtract",    "multiply",   "divide",      "power",
                              "maximum",       "minimum",     "prelu",      "equal",       "less",
                              "less_or_equal", "logical_and", "logical_or", "logical_xor", "where"};
  return kNames.at(static_cast<std::size_t>(function));
}

std::optional<std::string> Pointwise::invalid() const {
  const std::size_t wanted = function == PointwiseFunction::where ? 3 : 2;
  if (inputs.size() != wanted) {
    return fmt::format("{}: {} inputs, but {} are accepted", name_of(function), inputs.size(), wanted);
  }
  if (!forward() &&
      (!has_gradient(function) || index >= wanted || (function == PointwiseFunction::where && index == 0))) {
    return fmt::format("{} has no gradient by input {}", name_of(function), index);
  }
  for (const Array& input : inputs) {
    if (input.dtype != dst.dtype || input.dims.rank() > dst.dims.rank()) {
      return fmt::format("{}: the inputs differ in dtype, or have more dimensions than the result",
                         name_of(function));
    }
    for (std::size_t d = 0; d < input.dims.rank(); ++d) {
      const std::int64_t of_dst = dst.dims[d + dst.dims.rank() - input.dims.rank()];
      if (input.dims[d] != 1 && input.dims[d] != of_dst) {
        return fmt::format("{}: a dimension of {} does not go along with {}", name_of(function),
                           input.dims[d], of_dst);
      }
    }
  }
  return std::nullopt;
}

std::vector<Slot> Pointwise::operands() const {
  std::vector<Slot> all;
  if (!forward()) {
    all.push_back(Slot::diff_dst);
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (reads(input)) {
      all.push_back(kSources[input]);
    }
  }
  return all;
}

std::vector<LoopNest> Pointwise::nests() const {
  std::vector<Walk> walks{Walk::along(written(), dst.dims)};
  if (!forward()) {
    walks.push_back(Walk::over(dst));
  }
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    if (reads(input)) {
      walks.push_back(Walk::along(inputs[input], dst.dims));
    }
  }
  return kernels::nests(dst.dims, walks, forward() ? 0 : 1);
}

PlainSlots plain_slots(const Pointwise& spec) {
  PlainSlots slots;
  for (std::size_t input = 0; input < spec.inputs.size(); ++input) {
    if (spec.reads(input)) {
      slots.add_activation(kSources[input], Role::input, spec.inputs[input].tensor());
    }
  }
  if (!spec.forward()) {
    slots.add_activation(Slot::diff_dst, Role::input, spec.dst.tensor());
  }
  slots.add_activation(spec.forward() ? Slot::dst : Slot::diff_src, Role::output, spec.written().tensor());
  return slots;
}

namespace {

double value_at(PointwiseFunction function, double a, double b, double c) {
  using F = PointwiseFunction;
  const bool one = a != 0;
  const bool other = b != 0;
  switch (function) {
    case F::add:
      return a + b;
    case F::subtract:
      return a - b;
    case F::multiply:
      return a * b;
    case F::divide:
      return a / b;
    case F::power:
      return std::pow(a, b);
    case F::maximum:
      return std::max(a, b);
    case F::minimum:
      return std::min(a, b);
    case F::prelu:
      return a > 0 ? a : a * b;
    case F::equal:
      return a == b ? 1 : 0;
    case F::less:
      return a < b ? 1 : 0;
    case F::less_or_equal:
      return a <= b ? 1 : 0;
    case F::logical_and:
      return one && other ? 1 : 0;
    case F::logical_or:
      return one || other ? 1 : 0;
    case F::logical_xor:
      return one != other ? 1 : 0;
    case F::where:
      return one ? b : c;
  }
  return 0;
}

double slope_at(PointwiseFunction function, std::size_t index, double a, double b) {
  using F = PointwiseFunction;
  const bool first = index == 0;
  switch (function) {
    case F::add:
      return 1;
    case F::subtract:
      return first ? 1 : -1;
    case F::multiply:
      return first ? b : a;
    case F::divide:
      return first ? 1 / b : -a / (b * b);
    case F::power:
      return first ? (b == 0 ? 0 : b * std::pow(a, b - 1)) : a > 0 ? std::pow(a, b) * std::log(a) : 0;
    case F::maximum:
      return (a >= b) == first ? 1 : 0;
    case F::minimum:
      return (a <= b) == first ? 1 : 0;
    case F::prelu:
      return first ? (a > 0 ? 1 : b) : a > 0 ? 0 : a;
    case F::where:
      return (a != 0) == (index == 1) ? 1 : 0;
    default:
      return 0;
  }
}

class ReferencePointwise final : public ReferenceOf<Pointwise> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const bool forward = spec_.forward();
    std::array<std::vector<float>, 3> inputs;
    for (std::size_t input = 0; input < spec_.inputs.size(); ++input) {
      if (spec_.reads(input)) {
        inputs[input] = read(pointers, kSources[input]);
      }
    }
    const std::vector<float> diff = forward ? std::vector<float>{} : read(pointers, Slot::diff_dst);
    std::vector<double> result(static_cast<std::size_t>(spec_.written().dims.elements()));
    std::array<std::int64_t, Dims::kMost> at{};
    for (std::int64_t place = 0; place < spec_.dst.dims.elements(); ++place) {
      std::array<double, 3> x{};
      for (std::size_t input = 0; input < spec_.inputs.size(); ++input) {
        x[input] = inputs[input].empty() ? 0 : inputs[input][place_in(spec_.inputs[input].dims, at)];
      }
      if (forward) {
        result[place] = value_at(spec_.function, x[0], x[1], x[2]);
      } else {
        result[place_in(spec_.written().dims, at)] +=
            static_cast<double>(diff[place]) * slope_at(spec_.function, spec_.index, x[0], x[1]);
      }
      for (std::size_t d = spec_.dst.dims.rank(); d > 0; --d) {
        if (++at[d - 1] < spec_.dst.dims[d - 1]) {
          break;
        }
        at[d - 1] = 0;
      }
    }
    write(pointers, forward ? Slot::dst : Slot::diff_src, std::vector<float>(result.begin(), result.end()));
  }

 private:
  // Of the element of an input, in the order of its dimensions, that goes along with dst's element `at`.
  std::int64_t place_in(const Dims& dims, const std::array<std::int64_t, Dims::kMost>& at) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < dims.rank(); ++d) {
      place = place * dims[d] + (dims[d] == 1 ? 0 : at[d + spec_.dst.dims.rank() - dims.rank()]);
    }
    return place;
  }
};

const Registration<Implementation<Pointwise>> BENCH_REGISTERED{
    reference_implementation<Pointwise, ReferencePointwise>()};

}  // namespace
}  // namespace bench::kernels
