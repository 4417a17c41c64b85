// The time that cuDNN's heuristics take for one graph.
#pragma once

namespace bench::kernels::testing {

// Processor time to list a graph's plans: an assumption, not a measurement. CudnnGraphs' test shows only that
// with cuDNN 9.19, for a card that is not here, a graph takes no more.
inline constexpr double kGraphNs = 6e6;

}  // namespace bench::kernels::testing
