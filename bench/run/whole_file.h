// What --out and other options name: files that are replaced as a whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace bench {

// Whole, since it must be found, but in one line.
std::string path_in_words(const std::filesystem::path& path);

// Throws UsageError: "--out: PATH cannot be written (REASON); give …".
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error);
void require_written(const std::filesystem::path& path, const std::error_code& error);

// The file that symbolic links lead to, whether it exists or not: a rename would replace the link itself.
// Throws UsageError for a link of another user, who could have any file of this one replaced by it; root's
// are followed. The option is the one that gave the path.
std::filesystem::path behind_links(std::filesystem::path path, std::string_view option = "--out");

// Writes to a hidden file next to it, then renames. A device or pipe is written to as it is; a pipe's reader
// is waited for. Throws Interrupted.
std::error_code write_whole(const std::filesystem::path& target, std::string_view text);

// The same behind links. Throws UsageError where the folder is missing or the path is one, and Interrupted.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace bench
