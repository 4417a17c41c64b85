// The file of a program or of a shared library, looked at before the system's loader opens it: where the
// file ends before what its headers describe, the loader ends the process by SIGBUS.
#pragma once

#include <string>
#include <vector>

namespace bench {

enum class FileState {
  whole,
  unreadable,  // errno says why
  foreign,     // neither a program nor a library
  cut_short,
};

// Of 64-bit ELF files.
FileState file_state(const std::string& path);

// The names of the libraries that the program or library names as needed, such as "libdnnl.so.2"; empty where
// the file is not whole.
std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace bench
