// A network's training step as a program: for each micro-batch the forward pass, the loss and the backward
// pass, then the optimizer.
#pragma once

#include <cstdint>

#include "kernels/networks/program/plan.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels {

struct TrainOptions {
  Optimizer::Kind optimizer = Optimizer::Kind::sgd;
  // Micro-batches of the target's batch whose gradients are summed before a step.
  std::int64_t accumulate = 1;
  // ReLU, sums and gradients of normalisations write over inputs that nobody reads later.
  bool in_place = true;
  // Keep only the values between blocks, and compute a block's again: see recompute.h.
  bool recompute = false;
  bool loss_scaling = false;  // see kernels/operations/loss_scale/loss_scale.h
  // Bytes of parameters, at least, that are updated together within the backward pass where that can be; 0:
  // all of them behind it. See updates.h.
  std::int64_t update_slice = 256 * 1024;
};

// `graph` as a network builds it, nothing fused; target.batch is a micro-batch. Throws Unsupported. Creates
// descriptions only: nothing is compiled, nothing allocated on the device.
ProgramPlan plan_training(Graph graph, const Target& target, const TrainOptions& options, Device& device);

}  // namespace bench::kernels
