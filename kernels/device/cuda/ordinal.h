// The number in a CUDA device's id. Needs no CUDA header.
#pragma once

#include "bench/device.h"

namespace bench::kernels::cuda {

// 1 of "cuda:1". Throws std::logic_error where the id has no number.
int ordinal_of(const Device& device);

}  // namespace bench::kernels::cuda
