// `bench predict` of a language model: --workload llama3.1_8b, or --model FILE.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/command.h"

namespace bench {

// The form of `bench predict` that these words ask for; nullptr: they name no language model.
const Command* generation_form(const std::vector<std::string>& words);

}  // namespace bench
