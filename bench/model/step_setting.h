// A workload's step as the model of GPUs takes it.
#pragma once

#include "bench/model/gpu_model.h"
#include "bench/workload.h"

namespace bench {

// By the spec's mode, dtype, batch and optimizer. `cast_whole`: fp16 is the model cast whole, not autocast.
StepSetting step_setting(const WorkloadSpec& spec, const EagerForm& form);
EagerForm form_of(const StepSetting& setting);

}  // namespace bench
