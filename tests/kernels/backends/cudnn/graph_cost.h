// The time that the heuristics of NVIDIA's libraries take for one piece of work.
#pragma once

namespace bench::kernels::testing {

// Processor time to list a graph's plans. CudnnGraphs' tests measure it: 1.8 to 1.9 ms for a convolution with
// cuDNN 9.19 on an Intel Xeon (Sapphire Rapids), 4.1 to 4.4 ms for a pass of attention, for a card that is
// not here. The rest is for slower processors.
inline constexpr double kGraphNs = 4.5e6;
inline constexpr double kAttentionNs = 10e6;

// To list a product's algorithms. Not measured: cuBLASLt lists none for a card that is not here. Its users
// cache what it answers because a call takes some ten microseconds to a few milliseconds.
inline constexpr double kProductNs = 2e6;

}  // namespace bench::kernels::testing
