// `bench inspect`: what a network is made of, and the memory that a step of it takes, planned and not run.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command inspect_command();

}  // namespace bench
