// Ctrl-C and SIGTERM: the first asks the run to end after the current step, the second ends the program.
#pragma once

namespace bench {

void install_interrupt_handlers();
bool interrupted();

}  // namespace bench
