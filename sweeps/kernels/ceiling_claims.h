// What the device can do at most: memory, caches, arithmetic in each dtype, and what is missing of them.
#pragma once

#include <string_view>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/kernels/roof_points.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {

inline constexpr std::string_view kTensorCores = "tensor-cores";  // a mode of multiply-adds

std::vector<Finding> ceiling_claims(const ResultDocument& document, const std::vector<KernelPoint>& points,
                                    const Roofline& roofline);

}  // namespace bench::sweeps
