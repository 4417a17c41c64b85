// Whether a trainer's gradient is that of its loss.
#pragma once

#include "kernels/networks/program/trainer.h"

namespace bench::kernels {

// Along the direction d that goes as far in every parameter tensor k: d_k = g_k / ||g_k||.
struct GradientCheck {
  double loss = 0;
  double expected = 0;  // slope of the loss along d by the gradient, Σ ||g_k||
  double measured = 0;  // (L(w + h·d) − L(w − h·d)) / 2h
  double error =
      0;  // |measured / expected − 1|; infinity where something is not finite or a g_k is all zeros
};

// Three passes over the batch; leaves the parameters as they were. `change` is what h·d should change the
// loss by, as a share of it: small for a straight line, large against the rounding of the loss. Holds the
// parameters and gradients on the host meanwhile.
GradientCheck check_gradient(Trainer& trainer, double change);

struct GradientLikeness {
  double loss_difference = 0;  // |L − L'| / |L'|
  double norm_ratio = 0;       // ||g|| / ||g'||
  double cosine = 0;           // of the angle between the gradients; near 0 for unrelated ones, as they have
                               // millions of dimensions; NaN where one is not finite
  bool finite() const;
};

// A trainer's gradient compared with that of another with the same network, batch and seed. A pass each.
GradientLikeness compare_gradients(Trainer& trainer, Trainer& expected);

// 1 − cosine between a trainer's gradient and the one with its parameters rounded to a 16-bit dtype: how much
// of the difference in that dtype is the network's own sensitivity. Two passes; leaves the parameters as they
// were.
double rounding_turn(Trainer& trainer, Dtype dtype);

}  // namespace bench::kernels
