// What the signs in tables mean: one line under a table that has some, and all of them for --explain.
#pragma once

#include <string>

#include "bench/page/page.h"

namespace bench {

// "±, (a–b): 95 % interval; driver: memory as the system counts it; ○: less reliable; see bench --explain";
// empty where the table has no sign. `all_flagged`: every point is less reliable, so that no mark separates
// some. A table of predicted points has other intervals, and says so itself.
std::string signs_of(const TextTable& table, bool all_flagged, bool is_predicted = false);

// What --explain prints.
std::string explained_signs(std::size_t width);

}  // namespace bench
