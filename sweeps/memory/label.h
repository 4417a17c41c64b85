// Names of the memory sweep's series.
#pragma once

#include <string>

#include "sweeps/series/series.h"

namespace bench::sweeps {

// "fp32 inference", "bf16 training with adam, 4 micro-batches, recomputing"; further options, such as the
// image size, where `axes` has several values of them.
std::string memory_label(const BatchParams& params, const Json& axes);

}  // namespace bench::sweeps
