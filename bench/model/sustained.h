// What a card sustains of its data sheet's rates.
#pragma once

#include "bench/model/gpu.h"

namespace bench {

// What an operation takes at 12 nm, and how that falls with the process.
struct OperationEnergy {
  double joules = 0;
  double shrink = 0;  // exponent of the process
};

// Watts that the memory leaves at its full bandwidth.
double compute_power(const Gpu& gpu);

struct SustainedRate {
  double per_s = 0;        // operations
  double power_share = 0;  // how far the rate's logarithm moves with that of what power allows: 0 to 1
};

// The 4-norm of the peak and of watts / (joules · (process / 12 nm)^shrink).
SustainedRate sustained_rate(const Gpu& gpu, double peak, double watts, const OperationEnergy& energy);

// Chips with twice the fp32 cores for each scheduler, which products do not keep busy: GA10x, AD10x, GB20x.
bool has_doubled_fp32(const Gpu& gpu);

}  // namespace bench
