// GELU and its gradient as they are defined in gelu.h.
#include <cmath>

#include "kernels/gelu/gelu.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceGelu final : public ReferenceOperation {
 public:
  explicit ReferenceGelu(const Gelu& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.tensor);
    if (spec.direction == Gelu::Direction::forward) {
      add_activation(Slot::dst, Role::output, spec.tensor);
    } else {
      add_activation(Slot::diff_dst, Role::input, spec.tensor);
      add_activation(Slot::diff_src, Role::output, spec.tensor);
    }
  }

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    if (spec_.direction == Gelu::Direction::forward) {
      for (float& value : values) {
        value = gelu(value);
      }
      write(pointers, Slot::dst, values);
      return;
    }
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i];
      const double t = std::tanh(gelu_inner(x));
      const double slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_inner_slope(x);
      values[i] = static_cast<float>(diff_dst[i] * slope);
    }
    write(pointers, Slot::diff_src, values);
  }

  double flops() const override { return spec_.flops(); }

 private:
  Gelu spec_;
};

const Registration<Implementation<Gelu>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Gelu& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Gelu& spec, Device& /*device*/) { return std::make_unique<ReferenceGelu>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
