// Memory of this process, and failures for want of it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// The process's private bytes and its proportional share of shared ones, so that a sum over processes counts
// shared memory once. Pages of files, such as code, do not count. nullopt where the system does not tell.
std::optional<std::int64_t> own_memory_bytes();
// The same from the text of /proc/PID/smaps_rollup.
std::optional<std::int64_t> own_memory_in(std::string_view rollup);

// Why work failed: that the host's memory is full, where that is what an allocation or a thread that did not
// start means; else the error's own words.
std::string failure_in_words(const std::exception& error);

}  // namespace bench
