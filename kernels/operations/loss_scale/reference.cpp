// Loss scaling as loss_scale.h defines it. It is also what the CPU device uses.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {

PlainSlots plain_slots(const FindOverflow& spec) {
  PlainSlots slots;
  slots.add_values(Slot::diff_weights, Role::input, spec.count, spec.dtype);
  slots.add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  return slots;
}

PlainSlots plain_slots(const UpdateLossScale& /*spec*/) {
  PlainSlots slots;
  slots.add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  return slots;
}

namespace {

class ReferenceFindOverflow final : public ReferenceOf<FindOverflow> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> gradient = read_values(pointers, Slot::diff_weights);
    if (!std::ranges::all_of(gradient, [](float value) { return std::isfinite(value); })) {
      static_cast<LossScale*>(pointers[Slot::loss_scale])->overflow = 1;
    }
  }
};

class ReferenceUpdateLossScale final : public ReferenceOf<UpdateLossScale> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    LossScale& scale = *static_cast<LossScale*>(pointers[Slot::loss_scale]);
    if (scale.overflow != 0) {
      scale = {.factor = scale.factor / 2, .overflow = 0, .good_steps = 0};
    } else if (++scale.good_steps == LossScale::kGrowthInterval) {
      scale = {.factor = scale.factor * 2, .overflow = 0, .good_steps = 0};
    }
  }
};

// The CPU's only implementations of both.
const Registration<Implementation<FindOverflow>> BENCH_REGISTERED{
    reference_implementation<FindOverflow, ReferenceFindOverflow>(0)};
const Registration<Implementation<UpdateLossScale>> BENCH_REGISTERED{
    reference_implementation<UpdateLossScale, ReferenceUpdateLossScale>(0)};

}  // namespace
}  // namespace bench::kernels
