// What is at the other end of a stream of this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

// Columns of the terminal behind the file descriptor, else of $COLUMNS, at least 40; else kFileWidth
// (lines.h).
std::size_t terminal_width(int stream);

// A sentence for who reads the stream, in lines of its width; what a terminal would obey in a foreign name is
// escaped. `whole`: a path or a command line at its end, which is not broken.
std::string notice(int stream, std::string_view text, std::string_view whole = "");

// "result   PATH (the older one is replaced)", with the path unbroken.
std::string file_line(int stream, std::string_view what, const std::filesystem::path& file,
                      std::string_view note = "");

// Whether a line there can be drawn again: it is a terminal, and TERM does not call it dumb.
bool can_redraw(int stream);

}  // namespace bench
