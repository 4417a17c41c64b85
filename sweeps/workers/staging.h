// Host memory in which batches are put together, and their way to the device.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "bench/device.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/pipeline.h"

namespace bench::sweeps {

class Staging {
 public:
  // The slots on the host, and two on the device that take turns. Throws OutOfMemory, and Unsupported where
  // such memory cannot be had.
  Staging(const PipelineSpec& spec, Device& device, const Clock& clock);

  std::span<std::byte* const> slots() const { return slots_; }
  std::int64_t host_bytes() const { return slot_bytes_ * std::ssize(slots_); }

  // Copies a slot to the device, on a stream of its own where there is one, and waits until it may be used
  // again.
  void copy(const std::byte* slot);

 private:
  Device& device_;
  const Clock& clock_;
  HostKind kind_;
  std::int64_t slot_bytes_;
  std::chrono::nanoseconds least_copy_;   // by the limit of the bus
  std::unique_ptr<HostMemory> memory_;    // of a device with transfers
  std::vector<loader::CacheLine> plain_;  // of one without
  std::vector<std::byte*> slots_;
  std::vector<Buffer> on_device_;
  std::size_t turn_ = 0;
  std::unique_ptr<CopyQueue> queue_;
};

}  // namespace bench::sweeps
