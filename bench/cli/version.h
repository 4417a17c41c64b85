#pragma once

#include <string>

namespace bench {

// What --version prints: the program's version and commit, and the versions and places of its libraries; as
// an object where the format is "json", else a line each.
std::string version_in(const std::string& format);

}  // namespace bench
