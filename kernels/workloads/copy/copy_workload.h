// The workload `copy`: what moving a batch between host and device takes. A sample is one copy; a batch is
// started at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/transfers.h"
#include "bench/workload.h"

namespace bench::kernels {

struct CopySpec {
  bool to_device = true;
  bool to_host = false;  // both: half of the bytes go each way at the same time
  HostKind host = HostKind::pageable;
  bool staged = false;         // pageable, by way of a pinned ring
  bool cold_pages = false;     // the destination's pages are fresh from the system before each step
  bool own_queue = false;      // overlapped with the device's work instead of as part of it
  std::int64_t bytes = 0;      // of one copy
  std::int64_t in_flight = 1;  // copies in each direction
  std::string node = "any";    // or near, far, or a number
  std::uint64_t seed = 1;

  std::int64_t directions() const { return (to_device ? 1 : 0) + (to_host ? 1 : 0); }
  std::int64_t total_bytes() const { return directions() * in_flight * bytes; }
};

// The workload's options, read. Throws UsageError.
CopySpec copy_spec(const WorkloadSpec& spec);

// Memory it holds: the device's buffers as input, and the host's memory as workspace where that is the
// device's own. Throws Unsupported where the host may not lock so much, OutOfMemory beyond counting.
MemoryPlan copy_plan(const CopySpec& spec, Device& device);

class StagingRing;

class CopyWorkload final : public Workload {
 public:
  // Throws OutOfMemory and Unsupported.
  CopyWorkload(const CopySpec& spec, Device& device);
  ~CopyWorkload() override;

  void before_step() override;
  void step() override;
  // Seeded bytes go from end to end, over poison.
  Verification verify() override;
  Work work() const override;

 private:
  std::byte* device_at(std::int64_t copy) const;
  std::byte* host_at(std::int64_t copy) const;
  void write_source(const Copy& copy, std::int64_t offset);
  void poison_destination(const Copy& copy);

  CopySpec spec_;
  Device& device_;
  Transfers& transfers_;
  std::int64_t stride_;  // between copies: whole pages
  std::optional<MemoryReservation> reserved_;
  std::unique_ptr<HostMemory> host_;
  Buffer buffer_;
  std::unique_ptr<StagingRing> ring_;
  std::unique_ptr<CopyQueue> queue_;
  std::vector<Copy> copies_;
};

}  // namespace bench::kernels
