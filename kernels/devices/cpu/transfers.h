// Copies between the host's memory and the CPU device's buffers, which are the host's memory too.
#pragma once

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

}  // namespace bench::kernels
