// The manual page, `man bench`: made from the registries when the program is installed (`bench --man`).
#pragma once

#include <string>

namespace bench {

// In roff, for section 1. Opens no device.
std::string man_page();

}  // namespace bench
