// `bench predict`: how fast a network would be on GPUs that are not here.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command predict_command();

}  // namespace bench
