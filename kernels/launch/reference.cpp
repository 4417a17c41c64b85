// What round_trip.h says is left in memory.
#include "kernels/launch/round_trip.h"
#include "kernels/reference/reference_operation.h"

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

const Registration<Implementation<RoundTrip>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const RoundTrip& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const RoundTrip& spec,
               Device& /*device*/) { return std::make_unique<ReferenceRoundTrip>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
