// The matrix product, sum by sum as in the formula of matmul.h.
#include <algorithm>

#include "kernels/backends/reference/products.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/matmul/matmul.h"

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
    reference_product(spec_.rows, spec_.inner, spec_.columns, src, weights, bias, dst);
    std::ranges::transform(dst, dst.begin(), [&](float value) { return apply(spec_.activation, value); });
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return spec_.flops(); }

 private:
  Matmul spec_;
};

const Registration<Implementation<Matmul>> BENCH_REGISTERED{
    reference_implementation<Matmul, ReferenceMatmul>()};

}  // namespace
}  // namespace bench::kernels
