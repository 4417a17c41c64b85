// Softmax cross-entropy by our own kernels.
#pragma once

#include "kernels/cross_entropy/cross_entropy.cuh"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cuda/kernel_operation.h"
#include "kernels/cuda/row_launch.h"

namespace bench::kernels::cuda {

template <class Machine>
class CrossEntropyOperation final : public KernelOperation<Machine> {
 public:
  using Spec = CrossEntropy;
  static Dtype dtype_of(const CrossEntropy& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const CrossEntropy& /*spec*/) { return std::nullopt; }

  CrossEntropyOperation(const CrossEntropy& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec), blocks_(blocks_of_rows(spec.rows, spec.classes)) {
    this->add_activation(Slot::src, Role::input, spec.tensor());
    this->add_opaque(Slot::labels, Role::input, spec.rows * static_cast<std::int64_t>(sizeof(std::int32_t)));
    this->add_values(Slot::loss, Role::output, 1);
    if (spec.scaled) {
      this->add_opaque(Slot::loss_scale, Role::input, sizeof(LossScale));
    }
    this->add_activation(Slot::diff_src, Role::output, spec.tensor());
    this->add_opaque(Slot::workspace, Role::scratch, blocks_ * static_cast<std::int64_t>(sizeof(float)));
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      auto* const diff_src = this->template stored<Element>(pointers, Slot::diff_src);
      const auto* const labels = static_cast<const std::int32_t*>(pointers[Slot::labels]);
      float* const losses = this->floats(pointers, Slot::workspace);
      const auto* const loss_scale =
          spec_.scaled ? static_cast<const LossScale*>(pointers[Slot::loss_scale]) : nullptr;
      with_access<Element>(
          spec_.classes,
          [&]<int kCount>() {
            with_group(spec_.classes, [&]<int kGroup>() {
              this->queue().launch(
                  CrossEntropyRows<Element, kCount, kGroup>{src, labels, diff_src, losses, spec_.rows,
                                                            spec_.classes, spec_.scale, loss_scale},
                  blocks_);
            });
          },
          src, diff_src);
      this->queue().launch(SumLosses{losses, blocks_, spec_.scale, this->floats(pointers, Slot::loss)}, 1);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  CrossEntropy spec_;
  std::int64_t blocks_;
};

}  // namespace bench::kernels::cuda
