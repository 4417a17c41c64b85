// `bench advise`: what limits a training step, and which changes of its settings pay.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command advise_command();

}  // namespace bench
