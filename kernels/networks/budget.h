// How much memory a network may spend on faster algorithms, and which convolutions get it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/networks/graph.h"
#include "kernels/networks/lower.h"

namespace bench::kernels {

// The rule: extra parameter bytes (Winograd keeps its weights transformed, four times as large) may grow to
// the larger of 10 % of the lean parameters and the bytes of the activations. So a small batch stays close to
// the bare weights, and a larger one, whose activations dominate anyway, buys speed with a like amount.
std::int64_t extra_parameter_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes);

// Conv2d::extra_bytes for each layer: 0, or kAnyExtraBytes for those that were given their faster algorithm.
// First those that save the most floating-point operations an extra byte, until the budget is spent. A
// convolution whose scratch is larger than all activations together stays lean.
inline constexpr std::int64_t kAnyExtraBytes = std::int64_t{1} << 40;
std::vector<std::int64_t> share_extra_bytes(const Graph& graph, const Target& target,
                                            std::int64_t activation_bytes, Device& device,
                                            OperationCache& cache);

// Bytes of an operation's packed parameters.
std::int64_t parameter_bytes(const Operation& operation);

}  // namespace bench::kernels
