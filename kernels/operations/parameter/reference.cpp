// A copy, which is the CPU's implementation too.
#include <cstring>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/parameter/parameter.h"

namespace bench::kernels {

PlainSlots plain_slots(const Parameter& spec) {
  PlainSlots slots;
  if (spec.forward()) {
    slots.add_values(Slot::weights, Role::parameter, spec.count, spec.dtype);
    slots.add_activation(Slot::dst, Role::output, spec.tensor());
  } else {
    slots.add_activation(Slot::diff_dst, Role::input, spec.tensor());
    slots.add_values(Slot::diff_weights, Role::output, spec.count, spec.dtype);
  }
  return slots;
}

namespace {

class ReferenceParameter final : public ReferenceOf<Parameter> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::memcpy(pointers[spec_.forward() ? Slot::dst : Slot::diff_weights],
                pointers[spec_.forward() ? Slot::weights : Slot::diff_dst],
                static_cast<std::size_t>(spec_.tensor().bytes()));
  }
};

const Registration<Implementation<Parameter>> BENCH_REGISTERED{
    reference_implementation<Parameter, ReferenceParameter>(0)};

}  // namespace
}  // namespace bench::kernels
