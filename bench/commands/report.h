// `bench report`: results as one page.
#pragma once

#include "bench/cli/command.h"

namespace bench {

Command report_command();

}  // namespace bench
