#include "kernels/workloads/copy/staging.h"

#include <algorithm>
#include <cstring>

namespace bench::kernels {

StagingRing::StagingRing(Transfers& transfers, std::int64_t copy_bytes, std::optional<int> node)
    : slot_bytes_(staging_slot_bytes(copy_bytes)),
      memory_(transfers.host_memory(
          {.kind = HostKind::pinned, .bytes = staging_ring_bytes(copy_bytes), .node = node})) {
  for (std::int64_t i = 0; i < kStagingSlots; ++i) {
    slots_.push_back({.data = memory_->data() + i * slot_bytes_, .queue = transfers.copy_queue()});
  }
}

void StagingRing::copy(std::span<const Copy> copies) {
  std::int64_t largest = 0;
  for (const Copy& copy : copies) {
    largest = std::max(largest, copy.bytes);
  }
  for (std::int64_t at = 0; at < largest; at += slot_bytes_) {
    for (const Copy& copy : copies) {
      if (at < copy.bytes) {
        send({.direction = copy.direction,
              .host = HostKind::pinned,
              .to = copy.to + at,
              .from = copy.from + at,
              .bytes = std::min(slot_bytes_, copy.bytes - at)});
      }
    }
  }
  for (RingSlot& slot : slots_) {
    settle(slot);
  }
}

void StagingRing::send(const Copy& part) {
  RingSlot& slot = slots_[next_];
  next_ = (next_ + 1) % slots_.size();
  settle(slot);
  Copy staged = part;
  if (part.direction == CopyDirection::to_device) {
    std::memcpy(slot.data, part.from, static_cast<std::size_t>(part.bytes));
    staged.from = slot.data;
  } else {
    staged.to = slot.data;
    slot.host_to = part.to;
    slot.bytes = part.bytes;
  }
  slot.queue->start(staged);
}

void StagingRing::settle(RingSlot& slot) {
  slot.queue->wait();
  if (slot.host_to != nullptr) {
    std::memcpy(slot.host_to, slot.data, static_cast<std::size_t>(slot.bytes));
    slot.host_to = nullptr;
  }
}

}  // namespace bench::kernels
