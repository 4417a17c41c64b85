// ReLU as it is defined in relu.h.
#include <algorithm>

#include "kernels/reference/reference_operation.h"
#include "kernels/relu/relu.h"

namespace bench::kernels {
namespace {

class ReferenceRelu final : public ReferenceOperation {
 public:
  explicit ReferenceRelu(const Relu& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.tensor);
    add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    std::ranges::transform(values, values.begin(),
                           [&](float value) { return apply(spec_.activation, value); });
    write(pointers, Slot::dst, values);
  }

  double flops() const override { return spec_.flops(); }

 private:
  Relu spec_;
};

const Registration<Implementation<Relu>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Relu& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Relu& spec, Device& /*device*/) { return std::make_unique<ReferenceRelu>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
