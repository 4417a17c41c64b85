// Files that belong to the program and lie in its checkout: pictures' scripts, the catalogue of devices.
#pragma once

#include <filesystem>

namespace bench {

// In the checkout the program was built from, or the one it stands in (build/<preset>/bench); empty where
// neither has it.
std::filesystem::path find_in_checkout(const std::filesystem::path& relative);

}  // namespace bench
