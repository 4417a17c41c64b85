#pragma once

#include <cstddef>
#include <string>

namespace bench {

// What --version prints: the program's version and commit, and the versions and places of its libraries; as
// an object where the format is "json", else a line each,
// of at most `width` columns.
std::string version_in(const std::string& format, std::size_t width);

}  // namespace bench
