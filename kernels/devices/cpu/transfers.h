// Copies between the host's memory and the CPU device's buffers, which are the host's memory too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/transfers.h"

namespace bench::kernels {

class CpuTransfers : public Transfers {
 public:
  bool crosses_bus() const override { return false; }
  std::vector<int> nodes() const override;
  std::optional<std::string> cannot_hold(const HostMemoryRequest& request) const override;
  std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest& request) override;
  // Each by one thread; several large ones on as many cores as the device computes with.
  void copy(std::span<const Copy> copies) override;
  std::unique_ptr<CopyQueue> copy_queue() override;
  void evict(const std::byte* data, std::int64_t bytes) override;
  bool renew(std::byte* data, std::int64_t bytes) override;
  std::int64_t host_bytes_used() const override;
};

// As memcpy, by one thread. Where the processor has stores that do not fetch the line they overwrite they are
// used, whatever the size: a third less traffic, and nothing else is driven out of the caches. The
// destination is then in memory, not in a cache, as after a device's own copy.
void copy_past_caches(std::byte* to, const std::byte* from, std::int64_t bytes);

// Drives the bytes' cache lines out to memory. False where the processor has no instruction for that.
bool evict_lines(const std::byte* data, std::int64_t bytes);

}  // namespace bench::kernels
