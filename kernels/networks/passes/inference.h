// A network's forward pass as a program.
#pragma once

#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

// Records the pass over one batch into a plan that holds none. Throws Unsupported. `extra` is for each node
// what it may spend on a faster algorithm; empty: nothing.
void record_forward(ProgramPlan& plan, Device& device, OperationCache& cache,
                    std::vector<ExtraBytes> extra = {});

// Throws Unsupported. Creates descriptions only: nothing is compiled, nothing allocated on the device.
ProgramPlan plan_inference(Graph graph, const Target& target, Device& device);

}  // namespace bench::kernels
