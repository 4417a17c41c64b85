// Pageable memory copied through a ring of pinned slots, as data loaders do: the host copies into one slot
// while the device takes another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/staging.h"
#include "bench/transfers.h"

namespace bench::kernels {

class StagingRing {
 public:
  // Takes staging_ring_bytes(). Throws as Transfers::host_memory does.
  StagingRing(Transfers& transfers, std::int64_t copy_bytes, std::optional<int> node);

  // Copies from and to pageable memory; returns when all is done. Both directions take turns.
  void copy(std::span<const Copy> copies);

 private:
  struct RingSlot {
    std::byte* data = nullptr;
    std::unique_ptr<CopyQueue> queue;
    std::byte* host_to = nullptr;  // where the bytes still go that the device brings; nullptr: none
    std::int64_t bytes = 0;
  };

  void send(const Copy& part);
  static void settle(RingSlot& slot);

  std::int64_t slot_bytes_;
  std::unique_ptr<HostMemory> memory_;
  std::vector<RingSlot> slots_;
  std::size_t next_ = 0;
};

}  // namespace bench::kernels
