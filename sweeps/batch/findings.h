// The batch sweep's answers: from measured points to claims.
#pragma once

#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

// Per dtype: t0, t_inf, ceiling_batch, limit_below_ceiling, memory_line, largest_batch, and left_out where
// points were above the device's peak; names end in "/<dtype>" where the sweep has several dtypes. For each
// dtype beside fp32: speedup_<dtype>, memory_ratio_<dtype>. `conditions` where other work held the cores.
// Last: recommendation. Claims about speed leave points of few rounds out where two others remain. A finding
// that its points cannot carry has no value, and its claim says what is missing.
//
// Reads params.batch, params.dtype, stats, items_per_step, memory.{peak_measured, weights}, work and
// validity.flags of the points; sweep.axes.dtype, sweep.memory_cap_bytes and
// context.device.peaks.<dtype>.{flops_per_s, bytes_per_s} where they are there. Times ns, memory bytes,
// throughput samples a second.
std::vector<Finding> batch_findings(const ResultDocument& document);

}  // namespace bench::sweeps
