// Tables that fit the width of what they are shown on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/page/cell.h"

namespace bench {

// Rows of cells below a header, in lines of at most `width` columns. Where the widest cells do not fit, text
// is broken into lines; where that does not help, columns are left out, the last first and those whose header
// stays at the end, and named below. Those that tell the rows apart are never left out, nor are marks, whose
// header is empty. Spaces at the end of a line
// are left out.
std::string in_columns(const std::vector<Cells>& rows, std::size_t width);

}  // namespace bench
