// The small text files of /proc and /sys.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

// The first bytes of a file in one unbuffered read, or nothing where it cannot be read. Some files of /proc
// are made as they are read: /proc/cpuinfo asks every core for its clock.
std::string head_of(const std::filesystem::path& path, std::size_t bytes = 4096);

// Without the white space around it.
std::string_view trimmed(std::string_view text);

}  // namespace bench
