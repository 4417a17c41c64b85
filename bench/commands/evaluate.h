// `bench evaluate`: devices side by side.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command evaluate_command();

}  // namespace bench
