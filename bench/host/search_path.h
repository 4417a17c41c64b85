// Lists of folders in which programs and libraries are searched: PATH, LD_LIBRARY_PATH. A relative folder,
// and an empty entry, mean the current folder, whose owner may be anybody.
#pragma once

#include <string>
#include <string_view>

namespace bench {

// The absolute folders among those that any of the separators divides, divided by colons.
std::string absolute_folders(std::string_view list, std::string_view separators = ":");

// Takes relative folders out of LD_LIBRARY_PATH, whose entries a colon or a semicolon ends. Whether there
// were any.
bool leave_out_relative_library_folders();

// Where LD_LIBRARY_PATH names relative folders, starts the program again without them: the loader has read
// the variable by now, and CUDA's libraries are yet to be opened. To be called first.
void start_without_relative_library_folders(char** argv);

}  // namespace bench
