// The description of an operation's gradient, for operations that compute all of it in one pass.
#pragma once

#include "kernels/operations/operation.h"

namespace bench::kernels {

template <class Spec>
Spec backward_of(Spec spec) {
  spec.direction = Direction::backward;
  return spec;
}

}  // namespace bench::kernels
