// Multiply-adds by kernels of our own: chains on the ordinary units, tiles on tensor cores. The machine's
// tiles come before (kernels/cuda/tiles.cuh).
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/fma/fma.cuh"
#include "kernels/fma/fma.h"
#include "kernels/fma/fma_tiles.cuh"

namespace bench::kernels::cuda {

template <class Machine>
class FmaOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Fma;
  static Dtype dtype_of(const Fma& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Fma& spec) {
    if (spec.kind == Fma::Kind::tiles && bytes_of(spec.dtype) != 2) {
      std::string reason = "fma on tensor cores is done in fp16 and bf16, not ";
      return reason += name_of(spec.dtype);
    }
    return std::nullopt;
  }

  FmaOperation(const Fma& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor());
    this->add_activation(Slot::dst, Role::output, spec.tensor());
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.kind == Fma::Kind::chains) {
      return this->with_element(spec_.dtype, [&]<class Element>() { this->run_chains<Element>(pointers); });
    }
    spec_.dtype == Dtype::fp16 ? run_tiles<typename Machine::Fp16>(pointers)
                               : run_tiles<typename Machine::Bf16>(pointers);
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element>
  void run_chains(const SlotPointers& pointers) const {
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    auto* const dst = this->template stored<Element>(pointers, Slot::dst);
    const std::int64_t count = stored_elements(spec_.tensor());
    using Kernel = FmaChains<Element, 4>;
    this->queue().launch(Kernel{.src = src,
                                .dst = dst,
                                .count = count,
                                .vectors = whole_accesses<Element>(count, src, dst),
                                .steps = spec_.steps},
                         Kernel::blocks(blocks_for(count, kLanes<Element>)));
  }

  // Every access begins at a row's eighth element: rows must be whole eights.
  template <class Element>
  void run_tiles(const SlotPointers& pointers) const {
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    auto* const dst = this->template stored<Element>(pointers, Slot::dst);
    const auto launch = [&]<int kCount>() {
      using Kernel = FmaTiles<Element, typename TilesOf<Machine>::template Of<Element>, kCount>;
      const std::int64_t parts = blocks_for(spec_.count, Kernel::kBlockElements);
      this->queue().launch(
          Kernel{.src = src, .dst = dst, .count = spec_.count, .parts = parts, .steps = spec_.steps},
          spec_.rows * parts);
    };
    with_access<Element>(spec_.count, launch, src, dst);
  }

  Fma spec_;
};

}  // namespace bench::kernels::cuda
