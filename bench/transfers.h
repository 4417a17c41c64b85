// Copies between host and device memory, for devices that offer more than blocking ones. Optional: a device
// that has it derives from Transfers too; see transfers_of(). Implemented in kernels/devices/.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/error.h"

namespace bench {

enum class HostKind { pageable, pinned };  // pinned: locked into memory, so that a device may copy by itself
enum class CopyDirection { to_device, to_host };

struct Copy {
  CopyDirection direction = CopyDirection::to_device;
  HostKind host = HostKind::pageable;  // of the host's end
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::int64_t bytes = 0;
};

// Host memory with one owner, its pages touched. Freeing never throws.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;
  virtual std::byte* data() const = 0;
  virtual std::int64_t bytes() const = 0;
};

struct HostMemoryRequest {
  HostKind kind = HostKind::pageable;
  std::int64_t bytes = 0;
  std::optional<int> node{};  // NUMA node whose memory it shall be; none: as the system places it
};

// Copies one after another, overlapped with the device's work and other queues. May be used from another
// thread than the device, by one thread at a time.
class CopyQueue {
 public:
  CopyQueue() = default;
  CopyQueue(const CopyQueue&) = delete;
  CopyQueue& operator=(const CopyQueue&) = delete;
  virtual ~CopyQueue() = default;
  // Returns as soon as the device goes on by itself; with pageable memory, and where no device copies by
  // itself, that is when the host's part is done.
  virtual void start(const Copy& copy) = 0;
  virtual void wait() = 0;  // the host waits for all of them
};

class Transfers {
 public:
  virtual ~Transfers() = default;

  // False where the device's memory is the host's, so that a copy never leaves it.
  virtual bool crosses_bus() const = 0;
  // NUMA nodes of the host's memory, the device's own first where that is known; at least one.
  virtual std::vector<int> nodes() const = 0;
  // Why no such memory can be had, with what to do about it; nullopt where it may be had.
  virtual std::optional<std::string> cannot_hold(const HostMemoryRequest& request) const = 0;
  // Throws OutOfMemory, and Unsupported where the system forbids it.
  virtual std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest& request) = 0;
  // All at once, as far as the device can, as part of what Device::time() takes.
  virtual void copy(std::span<const Copy> copies) = 0;
  virtual std::unique_ptr<CopyQueue> copy_queue() = 0;
  // Evicts the bytes from the host's caches, so that the next copy reads memory. Does nothing where copies
  // bypass these caches.
  virtual void evict(const std::byte* data, std::int64_t bytes) = 0;
  // Gives the whole pages among these bytes back to the system; the next writes get fresh ones. Contents are
  // lost. False where that cannot be done with this memory.
  virtual bool renew(std::byte* data, std::int64_t bytes) = 0;
  // Bytes of the host's memory in use: by this process, or by the whole machine where a driver's pinned pages
  // are not counted for the process. Compare readings from shortly before and after an allocation.
  virtual std::int64_t host_bytes_used() const = 0;
};

// nullptr where the device has none.
inline Transfers* transfers_of(Device& device) {
  return dynamic_cast<Transfers*>(&device);
}

// The NUMA node that "near", "far" (from the device), "any" or a number means for the host's memory; nullopt:
// as the system places it, or there is only one. Throws Unsupported where there is no far one.
inline std::optional<int> node_named(const std::string& name, const Transfers& transfers) {
  int number = 0;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data(), end, number).ptr == end && !name.empty()) {
    return number;
  }
  const std::vector<int> nodes = transfers.nodes();
  if (name == "far" && nodes.size() < 2) {
    throw Unsupported("far memory needs a second NUMA node; this machine has one");
  }
  if (name == "any" || nodes.size() < 2) {
    return std::nullopt;
  }
  return nodes[name == "far" ? 1 : 0];
}

// The ring of pinned slots that staged copies go through: the copy workload allocates it, and the transfer
// sweep reports how much memory it locks.
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
