// Values of single options, from their texts. Each throws UsageError naming the option.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cli/options.h"
#include "bench/dtype.h"

namespace bench {

// `or_half`: the message names that too.
Dtype dtype_of(const std::string& text, bool or_half = false);

// Sets `dtypes` and `cast_whole`. "half" is fp16 of another kind, so that a run has one of the two.
void read_dtypes(const std::string& text, Options& options);

// Of the program's own engine only memory is known without a measurement: `sweep` says which it is for.
Framework framework_of(const std::string& text, const std::string& sweep);

std::uint64_t seed_of(const std::string& text);

}  // namespace bench
