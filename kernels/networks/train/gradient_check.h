// Whether a trainer's gradient is that of its loss.
#pragma once

#include "kernels/networks/train/trainer.h"

namespace bench::kernels {

struct GradientCheck {
  double loss = 0;
  double norm = 0;      // of the gradient g over all parameters, ||g||2
  double measured = 0;  // (L(w + h·g/||g||) − L(w − h·g/||g||)) / 2h, which the gradient says is ||g||
  double error = 0;     // |measured / norm − 1|; infinity where either is not finite or the norm is 0
};

// Three passes over the batch; leaves the parameters as they were. `change` is what a step of h should change
// the loss by, as a share of it: small for a straight line, large against the rounding of the loss. Holds the
// parameters and gradients on the host meanwhile.
GradientCheck check_gradient(Trainer& trainer, double change);

}  // namespace bench::kernels
