// Pointwise functions on the CPU: rows of fp32 that stay in the first cache, gathered and put back where an
// array is repeated, narrower or laid out otherwise.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/nest_tasks.h"
#include "kernels/operations/pointwise/functions.cuh"

namespace bench::kernels {
namespace {

template <PointwiseFunction kFunction>
void value_row(const Operands& x, float* values, std::int64_t count) {
  const float* const a = x.rows[0];
  const float* const b = x.rows[1];
  const float* const c = kFunction == PointwiseFunction::where ? x.rows[2] : b;
  for_each_in_row(
      count, [=](std::int64_t i)
                 __attribute__((always_inline)) { values[i] = value_of<kFunction>(a[i], b[i], c[i]); });
}

// diff · slope; the first row is diff, what the slope does not depend on is not given.
template <PointwiseFunction kFunction, int kIndex>
void gradient_row(const Operands& x, float* values, std::int64_t count) {
  constexpr bool kReadsFirst = slope_reads(kFunction, kIndex, 0);
  constexpr bool kReadsSecond = slope_reads(kFunction, kIndex, 1);
  const float* const diff = x.rows[0];
  const float* const a = kReadsFirst ? x.rows[1] : diff;
  const float* const b = kReadsSecond ? x.rows[kReadsFirst ? 2 : 1] : diff;
  for_each_in_row(
      count, [=](std::int64_t i) __attribute__((always_inline)) {
        values[i] = diff[i] * slope_of<kFunction, kIndex>(a[i], b[i], 0.0F);
      });
}

RowFunction function_of(const Pointwise& spec) {
  return with_function(spec.function, [&]<PointwiseFunction kFunction>() -> RowFunction {
    if (spec.forward()) {
      return value_row<kFunction>;
    }
    return spec.index == 0   ? gradient_row<kFunction, 0>
           : spec.index == 1 ? gradient_row<kFunction, 1>
                             : gradient_row<kFunction, 2>;
  });
}

class CpuPointwise final : public NestOperation<Pointwise> {
 public:
  using NestOperation::NestOperation;

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const std::vector<Slot> operands = spec_.operands();
    std::array<Stored*, LoopNest::kMostArrays> stored{
        static_cast<Stored*>(pointers[spec_.forward() ? Slot::dst : Slot::diff_src])};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      stored[i + 1] = static_cast<Stored*>(pointers[operands[i]]);
    }
    for (const LoopNest& nest : nests_) {
      if (spec_.forward()) {
        map_nest<Element>(nest, operands.size() + 1, stored, function_of(spec_));
      } else {
        reduce_nest<Join::sum, Element>(nest, operands.size() + 1, stored, function_of(spec_),
                                        [](double sum) { return sum; });
      }
    }
    clear_padding<Element>(stored[0]);
  }
};

const Registration<Implementation<Pointwise>> BENCH_REGISTERED{cpu_implementation<Pointwise, CpuPointwise>(
    "openmp", 5, [](const Pointwise& spec, const Device& device) -> std::optional<std::string> {
      if (!is_whole_sum(spec.nests(), spec.written().dims.elements())) {
        return std::string(kSumOverPartialBlocks);
      }
      return device.unsupported(spec.dst.dtype);
    })};

}  // namespace
}  // namespace bench::kernels
