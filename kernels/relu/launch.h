// ReLU, ReLU6, leaky ReLU and their gradients by our own kernels, in any layout: channel padding is zero, and
// so is what becomes of it.
#pragma once

#include "kernels/cuda/flat_launch.h"
#include "kernels/relu/relu.cuh"
#include "kernels/relu/relu.h"
#include "kernels/relu/relu_backward.h"

namespace bench::kernels::cuda {

inline std::optional<std::string> no_rectifier(Activation activation) {
  return activation == Activation::none || activation == Activation::gelu
             ? std::optional<std::string>(
                   "relu does relu, relu6 and leaky relu; gelu is an operation of its own")
             : std::nullopt;
}

template <class Machine>
class ReluOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Relu;
  static Dtype dtype_of(const Relu& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Relu& spec) { return no_rectifier(spec.activation); }

  ReluOperation(const Relu& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor);
    this->add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      launch_flat<Element>(this->queue(), {this->template stored<Element>(pointers, Slot::src)},
                           this->template stored<Element>(pointers, Slot::dst), stored_elements(spec_.tensor),
                           RectifyFunction{Rectifier::of(spec_.activation)});
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  Relu spec_;
};

template <class Machine>
class ReluBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = ReluBackward;
  static Dtype dtype_of(const ReluBackward& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const ReluBackward& spec) {
    return spec.summed ? std::optional<std::string>("the kernel takes a gradient in one part")
                       : no_rectifier(spec.activation);
  }

  ReluBackwardOperation(const ReluBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::dst, Role::input, spec.tensor);
    this->add_activation(Slot::diff_dst, Role::input, spec.tensor);
    this->add_activation(Slot::diff_src, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      launch_flat<Element>(this->queue(),
                           {this->template stored<Element>(pointers, Slot::dst),
                            this->template stored<Element>(pointers, Slot::diff_dst)},
                           this->template stored<Element>(pointers, Slot::diff_src),
                           stored_elements(spec_.tensor), RectifyGradient{Rectifier::of(spec_.activation)});
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  ReluBackward spec_;
};

}  // namespace bench::kernels::cuda
