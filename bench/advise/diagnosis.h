// What limits a step under given settings, with the reason in words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/advise/step_option.h"

namespace bench {

// Who makes the device wait for data, of results and of readings; none where the wait is shorter than what
// may limit a step. Adds readings that would decide.
std::optional<NamedBottleneck> wait_that_limits(const StepModel& model, const StepOption& now,
                                                std::vector<std::string>& missing);

// Sets the advice's bottleneck and reason; adds to its missing readings where one would decide. `tried`: each
// setting changed alone, as is best. `paying`: the changes that pay.
void diagnose(const StepModel& model, const StepOption& now, const std::vector<StepOption>& tried,
              const std::vector<StepOption>& paying, Advice& advice);

}  // namespace bench
