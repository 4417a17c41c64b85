// The user's own folders, by the XDG Base Directory Specification. They may not exist yet.
#pragma once

#include <filesystem>
#include <optional>

namespace bench {

// For what later processes may use again: $XDG_CACHE_HOME/bench, else $HOME/.cache/bench; nullopt where
// neither variable holds an absolute path, the home does not exist, or nothing can be written there.
std::optional<std::filesystem::path> cache_folder();
// For what the user keeps: $XDG_DATA_HOME/bench, else $HOME/.local/share/bench; likewise.
std::optional<std::filesystem::path> data_folder();

// Whether files can be made there, after the folders that are missing.
bool can_be_written(std::filesystem::path folder);

// bench in the folder that an XDG variable names, else in `usual` of the home; nullptr: not set.
std::optional<std::filesystem::path> user_folder(const char* xdg, const char* home,
                                                 const std::filesystem::path& usual);

}  // namespace bench
