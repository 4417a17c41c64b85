// Gradient of ReLU as it is defined in relu_backward.h.
#include "kernels/reference/reference_operation.h"
#include "kernels/relu/relu_backward.h"

namespace bench::kernels {
namespace {

class ReferenceReluBackward final : public ReferenceOperation {
 public:
  explicit ReferenceReluBackward(const ReluBackward& spec) : spec_(spec) {
    add_activation(Slot::dst, Role::input, spec.tensor);
    add_activation(Slot::diff_dst, Role::input, spec.tensor);
    if (spec.summed) {
      add_activation(Slot::src1, Role::input, spec.tensor);
    }
    add_activation(Slot::diff_src, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> dst = read(pointers, Slot::dst);
    std::vector<float> gradient = read(pointers, Slot::diff_dst);
    const std::vector<float> other =
        spec_.summed ? read(pointers, Slot::src1) : std::vector<float>(gradient.size(), 0.0F);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += other[i];
      gradient[i] *= slope(spec_.activation, dst[i]);
    }
    write(pointers, Slot::diff_src, gradient);
  }

  double flops() const override { return spec_.flops(); }

 private:
  ReluBackward spec_;
};

const Registration<Implementation<ReluBackward>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const ReluBackward& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const ReluBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferenceReluBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
