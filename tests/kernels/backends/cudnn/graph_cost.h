// The time that the heuristics of NVIDIA's libraries take for one piece of work.
#pragma once

namespace bench::kernels::testing {

// Processor time to list a graph's plans. CudnnGraphs' tests measure it: 1.8 to 1.9 ms for a convolution with
// cuDNN 9.19 on an Intel Xeon (Sapphire Rapids), 4.1 to 4.4 ms for a pass of attention, for a card that is
// not here. The rest is for slower processors.
inline constexpr double kGraphNs = 4.5e6;
inline constexpr double kAttentionNs = 10e6;

// To list a product's algorithms: an estimate from above, not measured. Without a card cublasLtCreate answers
// CUBLAS_STATUS_NOT_INITIALIZED (13.1), so nothing can be listed. NVIDIA's header says no time; frameworks
// keep the answers because a call takes some ten microseconds to a few milliseconds.
inline constexpr double kProductNs = 5e6;

}  // namespace bench::kernels::testing
