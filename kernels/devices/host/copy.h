// A copy within the host's memory that goes past the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench::kernels {

// As memcpy, by one thread. Where the processor has stores that do not fetch the line they overwrite they are
// used, whatever the size: a third less traffic, and nothing else is driven out of the caches. The
// destination is then in memory, not in a cache, as after a device's own copy.
void copy_past_caches(std::byte* to, const std::byte* from, std::int64_t bytes);

// Drives the bytes' cache lines out to memory. False where the processor has no instruction for that.
bool evict_lines(const std::byte* data, std::int64_t bytes);

}  // namespace bench::kernels
