// The settings of a training run as text: batch=16,accumulate=8,workers=0,pin=no,dtype=fp32,cards=1.
#pragma once

#include <string_view>

#include "bench/advise/advice.h"

namespace bench {

// Keys that are left out keep their defaults. Throws UsageError naming the option, the key, its value and
// what is accepted.
TrainingSettings parse_settings(std::string_view option, std::string_view text);

inline constexpr std::int64_t kMostOfASetting = 1'000'000;

}  // namespace bench
