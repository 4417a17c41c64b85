// The workloads by the names that people know them by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/workload.h"

namespace bench {

// By its name, else whatever its case and signs ("ResNet-50"), else by another name of the same network
// ("gpt2"); nullptr: there is none.
const WorkloadType* workload_called(std::string_view name);

// What is wrong with a name that is none of those accepted. A language model is, for `bench predict` alone.
std::string unknown_workload(std::string_view option, std::string_view name,
                             const std::vector<std::string>& accepted);

// Why --`option` `value` is refused, which the workload lacks: of a file's network --input sets the sizes.
std::string missing_option(const WorkloadType& type, const std::string& option, const std::string& value);

}  // namespace bench
