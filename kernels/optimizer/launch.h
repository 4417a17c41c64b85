// An optimizer's step by our own kernels: one launch over all parameters, and for Adam one that counts the
// step.
#pragma once

#include <cmath>

#include "kernels/cuda/kernel_operation.h"
#include "kernels/optimizer/optimizer.cuh"
#include "kernels/optimizer/optimizer.h"

namespace bench::kernels::cuda {

template <class Machine>
class OptimizerOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Optimizer;
  static Dtype dtype_of(const Optimizer& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Optimizer& spec) {
    return spec.dtype == Dtype::tf32 ? std::optional<std::string>("parameters are not stored in tf32")
                                     : std::nullopt;
  }

  OptimizerOperation(const Optimizer& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_values(Slot::diff_weights, Role::input, spec.count, spec.dtype);
    this->add_values(Slot::weights, Role::state, spec.count, spec.dtype);
    if (spec.has_master()) {
      this->add_values(Slot::master, Role::state, spec.count);
    }
    if (spec.states() > 0) {
      this->add_values(Slot::state1, Role::state, spec.count);
    }
    if (spec.states() > 1) {
      this->add_values(Slot::state2, Role::state, spec.count);
      this->add_opaque(Slot::steps, Role::state, sizeof(std::int64_t));
    }
    if (spec.scaled) {
      this->add_opaque(Slot::loss_scale, Role::input, sizeof(LossScale));
    }
  }

  void run(const SlotPointers& pointers) override {
    switch (spec_.kind) {
      case Optimizer::Kind::sgd:
        return step(pointers, SgdRule{.rate = spec_.rate});
      case Optimizer::Kind::momentum:
        return step(pointers, MomentumRule{.rate = spec_.rate, .momentum = spec_.momentum});
      case Optimizer::Kind::adam: {
        auto* const steps = static_cast<std::int64_t*>(pointers[Slot::steps]);
        if (spec_.counts) {
          this->queue().launch(CountStep{steps, loss_scale(pointers)}, 1);
        }
        return step(pointers, adam(steps));
      }
    }
  }

  double flops() const override { return spec_.flops(); }

 private:
  const LossScale* loss_scale(const SlotPointers& pointers) const {
    return spec_.scaled ? static_cast<const LossScale*>(pointers[Slot::loss_scale]) : nullptr;
  }
  AdamRule adam(const std::int64_t* steps) const {
    const double beta1 = spec_.beta1;
    const double beta2 = spec_.beta2;
    return {.beta1 = spec_.beta1,
            .rest1 = static_cast<float>(1 - beta1),
            .log1 = static_cast<float>(std::log(beta1)),
            .beta2 = spec_.beta2,
            .rest2 = static_cast<float>(1 - beta2),
            .log2 = static_cast<float>(std::log(beta2)),
            .rate = spec_.rate,
            .epsilon = spec_.epsilon,
            .steps = steps};
  }

  template <class Rule>
  void step(const SlotPointers& pointers, const Rule& rule) const {
    this->with_element(spec_.dtype, [&]<class Element>() {
      using Kernel = OptimizerStep<Element, Rule>;
      Kernel kernel{.gradient = this->template stored<Element>(pointers, Slot::diff_weights),
                    .weights = this->template stored<Element>(pointers, Slot::weights),
                    .master = this->floats(pointers, spec_.has_master() ? Slot::master : Slot::weights),
                    .state1 = this->floats(pointers, Slot::state1),
                    .state2 = this->floats(pointers, Slot::state2),
                    .count = spec_.count,
                    .vectors = 0,
                    .scale = loss_scale(pointers),
                    .rule = rule};
      if (aligned(kAccess, 0, kernel.gradient, kernel.weights, kernel.master, kernel.state1, kernel.state2)) {
        kernel.vectors = spec_.count / kLanes<Element>;
      }
      this->queue().launch(kernel, blocks_for(blocks_for(spec_.count, kLanes<Element>), Kernel::kThreads));
    });
  }

  Optimizer spec_;
};

}  // namespace bench::kernels::cuda
