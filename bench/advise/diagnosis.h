// What limits a step under given settings, with the reason in words.
#pragma once

#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/advise/step_option.h"

namespace bench {

// With results or readings. Adds readings that would decide. `tried`: each setting changed alone, as is best.
// `paying`: the changes that pay.
NamedBottleneck diagnose(const StepModel& model, const StepOption& now, const std::vector<StepOption>& tried,
                         const std::vector<StepOption>& paying, std::vector<std::string>& missing);

}  // namespace bench
