// Multiply-adds by our own kernel.
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/fma/fma.cuh"
#include "kernels/fma/fma.h"

namespace bench::kernels::cuda {

template <class Machine>
class FmaOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Fma;
  static Dtype dtype_of(const Fma& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Fma& /*spec*/) { return std::nullopt; }

  FmaOperation(const Fma& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor());
    this->add_activation(Slot::dst, Role::output, spec.tensor());
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const std::int64_t count = stored_elements(spec_.tensor());
      using Kernel = FmaChains<Element, 4>;
      this->queue().launch(Kernel{.src = src,
                                  .dst = dst,
                                  .count = count,
                                  .vectors = aligned(kAccess, 0, src, dst) ? count / kLanes<Element> : 0,
                                  .steps = spec_.steps},
                           Kernel::blocks(blocks_for(count, kLanes<Element>)));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Fma spec_;
};

}  // namespace bench::kernels::cuda
