// A graph of cuDNN's with its plans. Needs no header of cuDNN.
#pragma once

#include <memory>

#include "kernels/cudnn/plans.h"

namespace bench::kernels::cudnn {

// Asks cuDNN anew: plans_for() in plans.h remembers. Throws Unsupported, and OutOfMemory where cuDNN had no
// memory to plan with.
std::unique_ptr<Plans> graph_plans(const Convolution& convolution, const Target& target);

}  // namespace bench::kernels::cudnn
