// Files that belong to the program and lie in its checkout: pictures' scripts, the catalogue of devices.
#pragma once

#include <filesystem>

namespace bench {

// In the checkout the program was built from, the one it stands in (build/<preset>/bench), or beside the
// program where it was carried along; empty where none has it.
std::filesystem::path find_in_checkout(const std::filesystem::path& relative);

}  // namespace bench
