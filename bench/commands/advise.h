// `bench advise`: what limits a training step, and what to change.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command advise_command();

}  // namespace bench
