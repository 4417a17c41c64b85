// The expected answer of a network: the plain graph, layer by layer, with the `reference` implementations in
// fp32 on the CPU. Nothing of what is measured is used: no fusing, no plan, no packed layouts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/networks/program/input.h"

namespace bench::kernels {

// The output of each sample in turn, as ProgramRunner::output gives it. Holds one layer's parameters at a
// time. Throws Unsupported.
std::vector<std::vector<float>> reference_outputs(const Graph& graph, std::span<const Sample> samples,
                                                  std::uint64_t seed);

}  // namespace bench::kernels
