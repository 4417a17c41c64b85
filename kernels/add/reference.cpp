// Element-wise addition as it is defined in add.h.
#include "kernels/add/add.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceAdd final : public ReferenceOperation {
 public:
  explicit ReferenceAdd(const Add& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.tensor);
    add_activation(Slot::src1, Role::input, spec.tensor);
    add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    std::vector<float> sum = read(pointers, Slot::src);
    const std::vector<float> other = read(pointers, Slot::src1);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = apply(spec_.activation, sum[i] + other[i]);
    }
    write(pointers, Slot::dst, sum);
  }

  bool in_place_sum() const override { return true; }
  double flops() const override { return spec_.flops(); }

 private:
  Add spec_;
};

const Registration<Implementation<Add>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Add& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Add& spec, Device& /*device*/) { return std::make_unique<ReferenceAdd>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
