// A part of a file: read, and dropped from the page cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::loader {

// More than this is no image: it would only fill the memory.
inline constexpr std::int64_t kMostEncodedBytes = 512LL << 20;

// The file as it is now, or `bytes` of it from `offset` on. Both throw BadImage.
void read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes);
void read_range(const std::filesystem::path& path, std::int64_t offset, std::int64_t count,
                std::vector<std::byte>& bytes);

// Has the page cache drop the range, whole pages outwards, and looks whether it did. Returns the reason where
// not.
std::optional<std::string> evict_range(const std::filesystem::path& path, std::int64_t offset,
                                       std::int64_t count);

}  // namespace bench::loader
