// GELU and its gradient by our own kernels, in any layout: gelu(0) is 0, as channel padding must stay.
#pragma once

#include "kernels/cuda/flat_launch.h"
#include "kernels/gelu/gelu.cuh"
#include "kernels/gelu/gelu.h"

namespace bench::kernels::cuda {

template <class Machine>
class GeluOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Gelu;
  static Dtype dtype_of(const Gelu& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Gelu& /*spec*/) { return std::nullopt; }

  GeluOperation(const Gelu& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor);
    if (spec.direction == Gelu::Direction::forward) {
      this->add_activation(Slot::dst, Role::output, spec.tensor);
    } else {
      this->add_activation(Slot::diff_dst, Role::input, spec.tensor);
      this->add_activation(Slot::diff_src, Role::output, spec.tensor);
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      const std::int64_t count = stored_elements(spec_.tensor);
      const auto* const src = this->template stored<Element>(pointers, Slot::src);
      if (spec_.direction == Gelu::Direction::forward) {
        launch_flat<Element>(this->queue(), {src}, this->template stored<Element>(pointers, Slot::dst), count,
                             GeluFunction{});
      } else {
        launch_flat<Element>(this->queue(), {src, this->template stored<Element>(pointers, Slot::diff_dst)},
                             this->template stored<Element>(pointers, Slot::diff_src), count, GeluGradient{});
      }
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Gelu spec_;
};

}  // namespace bench::kernels::cuda
