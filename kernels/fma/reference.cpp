// Multiply-adds as they are defined in fma.h, in double.
#include "kernels/fma/fma.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceFma final : public ReferenceOperation {
 public:
  explicit ReferenceFma(const Fma& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.tensor());
    add_activation(Slot::dst, Role::output, spec.tensor());
  }

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    for (float& value : values) {
      auto x = static_cast<double>(value);
      for (std::int64_t step = 0; step < spec_.steps; ++step) {
        x = static_cast<double>(Fma::kFactor) * x + static_cast<double>(Fma::kSummand);
      }
      value = static_cast<float>(x);
    }
    write(pointers, Slot::dst, values);
  }

  double flops() const override { return spec_.flops(); }

 private:
  Fma spec_;
};

const Registration<Implementation<Fma>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Fma& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Fma& spec, Device& /*device*/) { return std::make_unique<ReferenceFma>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
