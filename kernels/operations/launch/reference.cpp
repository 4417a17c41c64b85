// Writes the memory that round_trip.h promises.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/launch/round_trip.h"

namespace bench::kernels {

PlainSlots plain_slots(const RoundTrip& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::dst, Role::output, spec.dst());
  return slots;
}

namespace {

class ReferenceRoundTrip final : public ReferenceOf<RoundTrip> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    write(pointers, Slot::dst, std::vector<float>(static_cast<std::size_t>(spec_.launches), 1.0F));
  }
};

const Registration<Implementation<RoundTrip>> BENCH_REGISTERED{
    reference_implementation<RoundTrip, ReferenceRoundTrip>()};

}  // namespace
}  // namespace bench::kernels
