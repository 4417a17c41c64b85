// Operations on a GPU that is not here.
#pragma once

#include "bench/device.h"
#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench::sweeps {

// Whether a model knows the operation.
bool can_be_predicted(const SweepPoint& point);

// Matrix products by the model of products, others by that of networks; with the operation's arithmetic
// and bytes. Throws Unsupported.
Point predicted_kernel(const SweepPoint& point, Device& device);

}  // namespace bench::sweeps
