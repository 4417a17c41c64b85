// The matrix product as its sum is written; the formula stands in matmul.h.
#include "kernels/matmul/matmul.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceMatmul final : public ReferenceOperation {
 public:
  explicit ReferenceMatmul(const Matmul& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.src());
    add_values(Slot::weights, Role::parameter, spec.columns * spec.inner);
    if (spec.bias) {
      add_values(Slot::bias, Role::parameter, spec.columns);
    }
    add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    const std::span<const float> weights = values(pointers, Slot::weights);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
#pragma omp parallel for collapse(2)
    for (std::int64_t m = 0; m < spec_.rows; ++m) {
      for (std::int64_t n = 0; n < spec_.columns; ++n) {
        double sum = spec_.bias ? bias[n] : 0.0F;
        for (std::int64_t k = 0; k < spec_.inner; ++k) {
          sum += static_cast<double>(src[m * spec_.inner + k]) * weights[n * spec_.inner + k];
        }
        dst[m * spec_.columns + n] = apply(spec_.activation, static_cast<float>(sum));
      }
    }
    write(pointers, Slot::dst, dst);
  }

  double flops() const override {
    return spec_.flops();
  }

 private:
  Matmul spec_;
};

const Registration<Implementation<Matmul>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Matmul& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Matmul& spec, Device& /*device*/) { return std::make_unique<ReferenceMatmul>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
