// Memory of this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bench {

// Bytes of its own, and its part of those that it shares with others: summed over processes, shared memory
// counts once. Pages of files, such as code, are left out. nullopt where the system does not
// tell.
std::optional<std::int64_t> own_memory_bytes();
// The same from the text of /proc/PID/smaps_rollup.
std::optional<std::int64_t> own_memory_in(std::string_view rollup);

}  // namespace bench
