// What a card sustains of its data sheet's rates.
#pragma once

#include "bench/model/gpu.h"

namespace bench {

// The rate that power allows: the 4-norm of the peak and of power / (joules · (process / 12 nm)^shrink).
// `joules`: of one operation at 12 nm. Operations a second.
double sustained_rate(const Gpu& gpu, double peak, double joules, double shrink);

}  // namespace bench
