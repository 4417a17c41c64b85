// Tables that fit the width of what they are shown on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

// Rows of cells below a header, in lines of at most `width` columns. `right`: columns of figures, which are
// set to the right and not broken, by index. Where the widest cells do not fit, text is broken into lines;
// where that does not help, further columns follow in a table below, behind the columns that tell the rows
// apart. Spaces at the end of a line are left out.
std::string in_columns(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right,
                       std::size_t width);

}  // namespace bench
