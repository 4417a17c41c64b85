// The time that cuDNN's heuristics take for one graph.
#pragma once

namespace bench::kernels::testing {

// Processor time to list a graph's plans. CudnnGraphs' test measures it: 1.8 to 1.9 ms with cuDNN 9.19 on an
// Intel Xeon (Sapphire Rapids), for a card that is not here. The rest is for slower processors.
inline constexpr double kGraphNs = 4.5e6;

}  // namespace bench::kernels::testing
