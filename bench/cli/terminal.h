// What is at the other end of a stream of this process.
#pragma once

#include <cstddef>

namespace bench {

// Columns of the terminal behind the file descriptor, else of $COLUMNS, at least 40; else kFileWidth
// (text.h).
std::size_t terminal_width(int stream);

// Whether a line there can be drawn again: it is a terminal, and TERM does not call it dumb.
bool can_redraw(int stream);

}  // namespace bench
