// Sizes of the ring of pinned slots that staged copies go through. The copy workload allocates it; the
// transfer sweep reports how much memory it locks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bench {

inline constexpr std::int64_t kStagingSlots = 4;
inline constexpr std::int64_t kLargestStagingSlot = std::int64_t{1} << 20;  // bytes

constexpr std::int64_t staging_slot_bytes(std::int64_t copy_bytes) {
  return std::min(copy_bytes, kLargestStagingSlot);
}

// Bytes that a ring for copies of this size locks.
constexpr std::int64_t staging_ring_bytes(std::int64_t copy_bytes) {
  return kStagingSlots * staging_slot_bytes(copy_bytes);
}

}  // namespace bench
