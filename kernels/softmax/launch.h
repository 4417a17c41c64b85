// Softmax by our own kernel.
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/cuda/row_launch.h"
#include "kernels/softmax/softmax.cuh"
#include "kernels/softmax/softmax.h"

namespace bench::kernels::cuda {

template <class Machine>
class SoftmaxOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Softmax;
  static Dtype dtype_of(const Softmax& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Softmax& spec) {
    return spec.tensor.h == 1 && spec.tensor.w == 1
               ? not_nhwc(spec.tensor)
               : std::optional<std::string>("softmax takes rows of channels, not images");
  }

  SoftmaxOperation(const Softmax& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor);
    this->add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const std::int64_t channels = spec_.tensor.c;
      with_access<Element>(
          channels,
          [&]<int kCount>() {
            with_group(channels, [&]<int kGroup>() {
              this->queue().launch(SoftmaxRows<Element, kCount, kGroup>{src, dst, spec_.tensor.n, channels},
                                   RowGroup<kGroup>::blocks(spec_.tensor.n));
            });
          },
          src, dst);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Softmax spec_;
};

}  // namespace bench::kernels::cuda
