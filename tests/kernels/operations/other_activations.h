// The functions of activation.h that are neither rectifiers nor the tanh form of GELU.
#pragma once

#include <array>

#include "kernels/operations/activation.h"

namespace bench::kernels::testing {

inline constexpr std::array kOtherActivations{Activation::gelu_erf,
                                              Activation::sigmoid,
                                              Activation::silu,
                                              Activation::hard_sigmoid(0.2F, 0.5F),
                                              Activation::hard_swish,
                                              Activation::tanh,
                                              Activation::elu_of(0.5F),
                                              Activation::selu,
                                              Activation::softplus,
                                              Activation::mish,
                                              Activation::clip(-0.5F, 0.75F),
                                              Activation::linear(-2, 0.5F),
                                              Activation::abs,
                                              Activation::sqrt,
                                              Activation::reciprocal,
                                              Activation::power(1.5F),
                                              Activation::exp,
                                              Activation::log,
                                              Activation::erf,
                                              Activation::sin,
                                              Activation::cos};

// Those that are asked for positive numbers only.
constexpr bool wants_positive(Activation activation) {
  using K = ActivationKind;
  return activation.kind == K::sqrt || activation.kind == K::power || activation.kind == K::log ||
         activation.kind == K::reciprocal;
}

}  // namespace bench::kernels::testing
