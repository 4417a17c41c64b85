// Reading a workload's options: whole numbers with limits, and errors that name the option.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/workload.h"

namespace bench::kernels {

// A decimal whole number and nothing else; nullopt for anything more or less.
std::optional<std::int64_t> whole_number(std::string_view text);

// The option's value. Throws UsageError naming the option, what was given and the accepted range.
std::int64_t whole_option(const WorkloadSpec& spec, const std::string& name, std::int64_t smallest,
                          std::int64_t largest);

}  // namespace bench::kernels
