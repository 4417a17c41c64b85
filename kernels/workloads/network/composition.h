// What a network is made of, as its step runs: for `bench inspect`.
#pragma once

#include "bench/workload.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/networks/program/plan.h"

namespace bench::kernels {

// `written`: the network as it was written, whose parameters, multiply-adds and activations count; without
// operations.
Composition composition_of(const Graph& written);
// `plan`: of its step, whose layers count as operations where they compute anything; what is no layer, as the
// loss and the optimizer, has the kind "step".
Composition composition_of(const Graph& written, const ProgramPlan& plan);

}  // namespace bench::kernels
