// Loss scaling by our own kernels.
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/loss_scale/loss_scale.cuh"

namespace bench::kernels::cuda {

template <class Machine>
class FindOverflowOperation final : public KernelOperation<Machine> {
 public:
  using Spec = FindOverflow;
  static Dtype dtype_of(const FindOverflow& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const FindOverflow& /*spec*/) { return std::nullopt; }

  FindOverflowOperation(const FindOverflow& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_values(Slot::diff_weights, Role::input, spec.count, spec.dtype);
    this->add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      using Kernel = FindOverflowKernel<Element>;
      const auto* const gradient = this->template stored<Element>(pointers, Slot::diff_weights);
      const Kernel kernel{.gradient = gradient,
                          .count = spec_.count,
                          .vectors = whole_accesses<Element>(spec_.count, gradient),
                          .scale = static_cast<LossScale*>(pointers[Slot::loss_scale])};
      this->queue().launch(kernel, blocks_for(blocks_for(spec_.count, kLanes<Element>), Kernel::kThreads));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  FindOverflow spec_;
};

template <class Machine>
class UpdateLossScaleOperation final : public KernelOperation<Machine> {
 public:
  using Spec = UpdateLossScale;
  static Dtype dtype_of(const UpdateLossScale& /*spec*/) { return Dtype::fp32; }
  static std::optional<std::string> unsupported(const UpdateLossScale& /*spec*/) { return std::nullopt; }

  UpdateLossScaleOperation(const UpdateLossScale& /*spec*/, Device& device)
      : KernelOperation<Machine>(device) {
    this->add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  }

  void run(const SlotPointers& pointers) override {
    this->queue().launch(UpdateLossScaleKernel{static_cast<LossScale*>(pointers[Slot::loss_scale])}, 1);
  }

  double flops() const override { return UpdateLossScale::flops(); }
};

}  // namespace bench::kernels::cuda
