// What the model has no measurement of, in words.
#pragma once

#include <string>
#include <vector>

#include "bench/model/step_certainty.h"

namespace bench {

// One clause each. `host_share`: how far the step's logarithm moves with the host's.
std::vector<std::string> caveats_of(const GpuModel& model, const NetworkTerms& terms,
                                    const StepSetting& setting, const KindEvidence& kind, double host_share);

}  // namespace bench
