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

// `count` bytes of the file from `offset` on; without a count, all of it as it is now. Throws BadImage.
void read_file(const std::filesystem::path& path, std::vector<std::byte>& bytes, std::int64_t offset = 0,
               std::optional<std::int64_t> count = std::nullopt);

// Has the page cache drop the range, whole pages outwards, and looks whether it did. Returns the reason where
// not.
std::optional<std::string> evict_range(const std::filesystem::path& path, std::int64_t offset,
                                       std::int64_t count);

}  // namespace bench::loader
