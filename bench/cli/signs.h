// What the signs in tables mean: one line under a table that has some, and all of them for --explain.
#pragma once

#include <string>

#include "bench/page/page.h"

namespace bench {

// "±: 95 % interval; driver: memory as the system counts it; ○: less reliable; see bench --explain"; empty
// where the table has no sign. `all_flagged`: every point is less reliable, so that no mark separates some.
std::string signs_of(const TextTable& table, bool all_flagged);

// What --explain prints.
std::string explained_signs(std::size_t width);

}  // namespace bench
