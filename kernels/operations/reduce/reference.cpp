// Reductions as they are defined in reduce.h, in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/reduce/reduce.h"

namespace bench::kernels {

std::string_view name_of(ReduceFunction function) {
  constexpr std::array kNames{"sum", "mean", "maximum", "minimum", "product", "sum_of_squares", "l2"};
  return kNames.at(static_cast<std::size_t>(function));
}

std::optional<std::string> Reduce::invalid() const {
  if (src.dtype != dst.dtype || src.dims.rank() != dst.dims.rank()) {
    return std::string("reduce: both sides need the same dtype and rank");
  }
  if (!forward() && (function == ReduceFunction::maximum || function == ReduceFunction::minimum)) {
    return fmt::format("reduce: a {} has no gradient in one pass", name_of(function));
  }
  for (std::size_t d = 0; d < src.dims.rank(); ++d) {
    if (src.dims[d] < 1 || (dst.dims[d] != 1 && dst.dims[d] != src.dims[d])) {
      return fmt::format("reduce: {} elements cannot be {}", src.dims[d], dst.dims[d]);
    }
  }
  return std::nullopt;
}

std::vector<LoopNest> Reduce::nests() const {
  const Walk whole = Walk::over(src);
  const Walk joined = Walk::along(dst, src.dims);
  if (forward()) {
    return kernels::nests(src.dims, std::array{joined, whole}, 1);
  }
  if (is_linear()) {
    return kernels::nests(src.dims, std::array{whole, joined});
  }
  return kernels::nests(src.dims, std::array{whole, joined, whole, joined});
}

PlainSlots plain_slots(const Reduce& spec) {
  PlainSlots slots;
  if (spec.forward() || !spec.is_linear()) {
    slots.add_activation(Slot::src, Role::input, spec.src.tensor());
  }
  if (spec.forward()) {
    slots.add_activation(Slot::dst, Role::output, spec.dst.tensor());
    return slots;
  }
  if (!spec.is_linear()) {
    slots.add_activation(Slot::dst, Role::input, spec.dst.tensor());
  }
  slots.add_activation(Slot::diff_dst, Role::input, spec.dst.tensor());
  slots.add_activation(Slot::diff_src, Role::output, spec.src.tensor());
  return slots;
}

namespace {

class ReferenceReduce final : public ReferenceOf<Reduce> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (spec_.forward()) {
      return write(pointers, Slot::dst, joined(read(pointers, Slot::src)));
    }
    const std::vector<float> diff = read(pointers, Slot::diff_dst);
    std::vector<float> src(static_cast<std::size_t>(spec_.src.dims.elements()));
    std::vector<float> dst(diff.size());
    if (!spec_.is_linear()) {
      src = read(pointers, Slot::src);
      dst = read(pointers, Slot::dst);
    }
    for_each_pair([&](std::int64_t from, std::int64_t to) {
      src[from] = static_cast<float>(static_cast<double>(diff[to]) * slope(src[from], dst[to]));
    });
    write(pointers, Slot::diff_src, src);
  }

 private:
  // Calls visit with each element of src and the one of dst that it belongs to.
  template <class Visit>
  void for_each_pair(Visit visit) const {
    const Dims& dims = spec_.src.dims;
    std::array<std::int64_t, Dims::kMost> at{};
    for (std::int64_t place = 0; place < dims.elements(); ++place) {
      std::int64_t to = 0;
      for (std::size_t d = 0; d < dims.rank(); ++d) {
        to = to * spec_.dst.dims[d] + (spec_.dst.dims[d] == 1 ? 0 : at[d]);
      }
      visit(place, to);
      for (std::size_t d = dims.rank(); d > 0; --d) {
        if (++at[d - 1] < dims[d - 1]) {
          break;
        }
        at[d - 1] = 0;
      }
    }
  }

  std::vector<float> joined(const std::vector<float>& src) const {
    using F = ReduceFunction;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double none = spec_.function == F::maximum   ? -kInfinity
                        : spec_.function == F::minimum ? kInfinity
                        : spec_.function == F::product ? 1
                                                       : 0;
    std::vector<double> all(static_cast<std::size_t>(spec_.dst.dims.elements()), none);
    for_each_pair([&](std::int64_t from, std::int64_t to) {
      const double x = src[from];
      double& y = all[to];
      y = spec_.function == F::maximum   ? std::max(y, x)
          : spec_.function == F::minimum ? std::min(y, x)
          : spec_.function == F::product ? y * x
          : spec_.is_linear()            ? y + x
                                         : y + x * x;
    });
    for (double& y : all) {
      y = spec_.function == F::mean ? y / static_cast<double>(spec_.each())
          : spec_.function == F::l2 ? std::sqrt(y)
                                    : y;
    }
    return {all.begin(), all.end()};
  }

  double slope(double x, double y) const {
    switch (spec_.function) {
      case ReduceFunction::sum:
        return 1;
      case ReduceFunction::mean:
        return 1.0 / static_cast<double>(spec_.each());
      case ReduceFunction::product:
        return y / x;
      case ReduceFunction::sum_of_squares:
        return 2 * x;
      case ReduceFunction::l2:
        return y > 0 ? x / y : 0;
      case ReduceFunction::maximum:
      case ReduceFunction::minimum:
        break;
    }
    return 0;
  }
};

const Registration<Implementation<Reduce>> BENCH_REGISTERED{
    reference_implementation<Reduce, ReferenceReduce>()};

}  // namespace
}  // namespace bench::kernels
