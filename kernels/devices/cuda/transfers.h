// Copies between host memory and a card: each queue is a stream of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/transfers.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

class CudaTransfers : public Transfers {
 public:
  bool crosses_bus() const override { return true; }
  // The card's own first, as the kernel's list of PCI devices has it.
  std::vector<int> nodes() const override;
  std::optional<std::string> cannot_hold(const HostMemoryRequest& request) const override;
  // Pinned: cudaHostAlloc; where a node is asked for, the host's pages, registered.
  std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest& request) override;
  // The first on the device's stream, the others on streams of their own, which wait for what was queued
  // before and are waited for. Copies of pageable memory hold the host one after another.
  void copy(std::span<const Copy> copies) override;
  std::unique_ptr<CopyQueue> copy_queue() override;
  // The card reads the host's memory, and the host's caches where they hold it: nothing is driven out.
  void evict(const std::byte* data, std::int64_t bytes) override;
  bool renew(std::byte* data, std::int64_t bytes) override;  // the host's
  std::int64_t host_bytes_used() const override;             // by the whole machine

 protected:
  virtual Runtime& runtime() const = 0;
  virtual CUstream_st* main_stream() const = 0;
  virtual void make_current() const = 0;  // the card, for the calling thread
  virtual std::string pci_bus_id() const = 0;

 private:
  struct Side {
    explicit Side(Runtime& runtime) : stream(runtime), done(runtime) {}
    CudaStream stream;
    CudaEvent done;
  };

  Side& side(std::size_t index);

  std::unique_ptr<CudaEvent> fork_;
  std::vector<std::unique_ptr<Side>> sides_;
};

}  // namespace bench::kernels::cuda
