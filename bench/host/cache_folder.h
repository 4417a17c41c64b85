// The folder for what later processes of the same user may use again.
#pragma once

#include <filesystem>
#include <optional>

namespace bench {

// $XDG_CACHE_HOME/bench, else $HOME/.cache/bench; nullopt where neither variable holds an absolute path. It
// may not exist yet.
std::optional<std::filesystem::path> cache_folder();

// The same from the variables' values; nullptr: not set.
std::optional<std::filesystem::path> cache_folder(const char* xdg_cache_home, const char* home);

}  // namespace bench
