// A card that is not here as cuDNN's heuristics want it described.
#pragma once

#include <string>

#include "bench/model/gpu.h"

namespace bench::kernels::cuda {

// JSON with the 23 keys of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION. Counts and sizes are the data sheet's;
// limits of a multiprocessor are those of the compute capability: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; of one that is not listed, those of the next lower one.
std::string cudnn_properties(const Gpu& gpu);

}  // namespace bench::kernels::cuda
