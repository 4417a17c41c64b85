// --current batch=16,accumulate=8,workers=0,prefetch=2,pin=no,dtype=fp32,cards=1
#pragma once

#include <string>

#include "bench/advise/advice.h"

namespace bench {

// What is not named keeps PyTorch's defaults. Throws UsageError, one sentence beginning with the option.
TrainingSettings parse_settings(const std::string& option, const std::string& text);

}  // namespace bench
