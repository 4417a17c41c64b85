// The findings that a series of batches gives whatever the sweep, and words that several claims share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// The claim of a finding that takes at least two batch sizes.
std::string too_few(const BatchSeries& series, std::string_view needs);

// "171.0 ± 0.8 samples/s", the figure of the point's row in the table; of a predicted one "412 (350 to 480)
// samples/s", its 80 % interval.
std::string per_second(const CurvePoint& point);
// The same without the interval: "171".
std::string per_second_alone(const CurvePoint& point);

Finding claim_saturation(const BatchSeries& series);   // samples: the saturation batch
Finding claim_memory_line(const BatchSeries& series);  // bytes/sample
Finding claim_left_out(const BatchSeries& series);     // points

}  // namespace bench::sweeps
