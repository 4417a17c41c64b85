// Elementwise formulas as they are defined in elementwise.h.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {

PlainSlots plain_slots(const Elementwise& spec) {
  PlainSlots slots;
  if (!spec.forward()) {
    slots.add_activation(spec.slope_from(), Role::input, spec.tensor);
  }
  slots.add_activation(spec.forward() ? Slot::src : Slot::diff_dst, Role::input, spec.tensor);
  if (spec.summands == 2) {
    slots.add_activation(Slot::src1, Role::input, spec.tensor);
  }
  slots.add_activation(spec.forward() ? Slot::dst : Slot::diff_src, Role::output, spec.tensor);
  return slots;
}

namespace {

class ReferenceElementwise final : public ReferenceOf<Elementwise> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> sum = read(pointers, spec_.forward() ? Slot::src : Slot::diff_dst);
    if (spec_.summands == 2) {
      const std::vector<float> other = read(pointers, Slot::src1);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += other[i];
      }
    }
    if (spec_.forward()) {
      for (float& value : sum) {
        value = apply(spec_.activation, value);
      }
      return write(pointers, Slot::dst, sum);
    }
    const std::vector<float> from = read(pointers, spec_.slope_from());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] *= slope(spec_.activation, from[i]);
    }
    write(pointers, Slot::diff_src, sum);
  }

  bool in_place_sum() const override { return spec_.forward() && spec_.summands == 2; }
};

const Registration<Implementation<Elementwise>> BENCH_REGISTERED{
    reference_implementation<Elementwise, ReferenceElementwise>()};

}  // namespace
}  // namespace bench::kernels
