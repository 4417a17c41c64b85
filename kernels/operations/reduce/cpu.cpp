// Reductions and their gradients on the CPU; memory limits them.
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/nest_tasks.h"
#include "kernels/operations/reduce/slopes.cuh"

namespace bench::kernels {
namespace {

void square_row(const Operands& x, float* values, std::int64_t count) {
  const float* const from = x.rows[0];
  for_each_in_row(
      count, [=](std::int64_t i) __attribute__((always_inline)) { values[i] = from[i] * from[i]; });
}

template <ReduceFunction kFunction>
void gradient_row(const Operands& x, float* values, std::int64_t count) {
  constexpr bool kLinear = is_linear(kFunction);
  const float* const diff = x.rows[0];
  const float factor = x.factor;
  const float* const src = kLinear ? diff : x.rows[1];
  const float* const dst = kLinear ? diff : x.rows[2];
  for_each_in_row(
      count, [=](std::int64_t i) __attribute__((always_inline)) {
        values[i] = factor * diff[i] * slope_of<kFunction>(src[i], dst[i]);
      });
}

class CpuReduce final : public NestOperation<Reduce> {
 public:
  using NestOperation::NestOperation;

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto at = [&](Slot slot) { return static_cast<Stored*>(pointers[slot]); };
    const bool linear = spec_.is_linear();
    const float factor =
        spec_.function == ReduceFunction::mean ? 1.0F / static_cast<float>(spec_.each()) : 1.0F;
    const std::array stored =
        spec_.forward() ? std::array{at(Slot::dst), at(Slot::src), at(Slot::src), at(Slot::src)}
                        : std::array{at(Slot::diff_src), at(Slot::diff_dst), at(Slot::src), at(Slot::dst)};
    for (const LoopNest& nest : nests_) {
      if (spec_.forward()) {
        forward<Element>(nest, stored);
      } else {
        map_nest<Element>(nest, linear ? 2 : 4, stored, gradient(), factor);
      }
    }
    clear_padding<Element>(stored[0]);
  }

  template <class Element, class Stored>
  void forward(const LoopNest& nest, const std::array<Stored*, LoopNest::kMostArrays>& stored) const {
    using F = ReduceFunction;
    const auto join = [&]<Join kJoin>(RowFunction function, const auto& finish) {
      reduce_nest<kJoin, Element>(nest, 2, stored, function, finish);
    };
    const auto as_it_is = [](double value) { return value; };
    switch (spec_.function) {
      case F::sum:
        return join.template operator()<Join::sum>(nullptr, as_it_is);
      case F::mean:
        return join.template operator()<Join::sum>(
            nullptr, [each = static_cast<double>(spec_.each())](double sum) { return sum / each; });
      case F::maximum:
        return join.template operator()<Join::largest>(nullptr, as_it_is);
      case F::minimum:
        return join.template operator()<Join::smallest>(nullptr, as_it_is);
      case F::product:
        return join.template operator()<Join::product>(nullptr, as_it_is);
      case F::sum_of_squares:
        return join.template operator()<Join::sum>(square_row, as_it_is);
      case F::l2:
        return join.template operator()<Join::sum>(square_row, [](double sum) { return std::sqrt(sum); });
    }
  }

  RowFunction gradient() const {
    using F = ReduceFunction;
    switch (spec_.function) {
      case F::product:
        return gradient_row<F::product>;
      case F::sum_of_squares:
        return gradient_row<F::sum_of_squares>;
      case F::l2:
        return gradient_row<F::l2>;
      default:
        return gradient_row<F::sum>;
    }
  }
};

const Registration<Implementation<Reduce>> BENCH_REGISTERED{cpu_implementation<Reduce, CpuReduce>(
    "openmp", 5, [](const Reduce& spec, const Device& device) -> std::optional<std::string> {
      if (spec.forward() && !is_whole_sum(spec.nests(), spec.dst.dims.elements())) {
        return std::string(kSumOverPartialBlocks);
      }
      return device.unsupported(spec.dst.dtype);
    })};

}  // namespace
}  // namespace bench::kernels
