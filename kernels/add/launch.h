// Addition by our own kernel, in any layout: channel padding is zero, and so is its sum.
#pragma once

#include "kernels/add/add.cuh"
#include "kernels/add/add.h"
#include "kernels/cuda/flat_launch.h"

namespace bench::kernels::cuda {

template <class Machine>
class AddOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Add;
  static Dtype dtype_of(const Add& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Add& /*spec*/) { return std::nullopt; }

  AddOperation(const Add& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor);
    this->add_activation(Slot::src1, Role::input, spec.tensor);
    this->add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      const auto add = [&](const auto& function) {
        launch_flat<Element>(this->queue(),
                             {this->template stored<Element>(pointers, Slot::src),
                              this->template stored<Element>(pointers, Slot::src1)},
                             this->template stored<Element>(pointers, Slot::dst),
                             stored_elements(spec_.tensor), function);
      };
      if (spec_.activation == Activation::gelu) {
        add(AddFunction<TanhGelu>{});
      } else {
        add(AddFunction<Rectifier>{Rectifier::of(spec_.activation)});
      }
    });
  }

  bool in_place_sum() const override { return true; }
  double flops() const override { return spec_.flops(); }

 private:
  Add spec_;
};

}  // namespace bench::kernels::cuda
