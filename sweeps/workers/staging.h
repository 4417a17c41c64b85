// Host memory in which batches are put together, and their way to the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/device.h"
#include "bench/transfers.h"

namespace bench::sweeps {

class Staging {
 public:
  // `slots` of `slot_bytes` each on the host, and two on the device that take turns. Throws OutOfMemory, and
  // Unsupported where such memory cannot be had.
  Staging(Device& device, HostKind kind, std::int64_t slots, std::int64_t slot_bytes);

  std::span<std::byte* const> slots() const { return slots_; }
  std::int64_t host_bytes() const { return slot_bytes_ * static_cast<std::int64_t>(slots_.size()); }

  // Copies a slot to the device, on a stream of its own where there is one, and waits until it may be used
  // again.
  void copy(const std::byte* slot);

 private:
  Device& device_;
  HostKind kind_;
  std::int64_t slot_bytes_;
  std::unique_ptr<HostMemory> memory_;  // of a device with transfers
  std::vector<std::byte> plain_;        // of one without
  std::vector<std::byte*> slots_;
  std::vector<Buffer> on_device_;
  std::size_t turn_ = 0;
  std::unique_ptr<CopyQueue> queue_;
};

}  // namespace bench::sweeps
