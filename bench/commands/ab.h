// `bench ab`: two builds, or two environments, measured in turn and compared pair by pair.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command ab_command();

}  // namespace bench
