// Writes the memory that round_trip.h promises.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/launch/round_trip.h"

namespace bench::kernels {
namespace {

class ReferenceRoundTrip final : public ReferenceOperation {
 public:
  explicit ReferenceRoundTrip(const RoundTrip& spec) : spec_(spec) {
    add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    write(pointers, Slot::dst, std::vector<float>(static_cast<std::size_t>(spec_.launches), 1.0F));
  }

  double flops() const override { return 0; }

 private:
  RoundTrip spec_;
};

const Registration<Implementation<RoundTrip>> registered{
    reference_implementation<RoundTrip, ReferenceRoundTrip>()};

}  // namespace
}  // namespace bench::kernels
