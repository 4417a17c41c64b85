#include "kernels/devices/cpu/transfers.h"

#include <omp.h>

#include "kernels/devices/host/copy.h"
#include "kernels/devices/host/pages.h"

namespace bench::kernels {
namespace {

void copy_one(const Copy& copy) {
  copy_past_caches(copy.to, copy.from, copy.bytes);
}

// The host copies at once, so there is nothing to wait for. Only another thread's copy overlaps with the
// device's work.
class ImmediateQueue final : public CopyQueue {
 public:
  void start(const Copy& copy) override { copy_one(copy); }
  void wait() override {}
};

}  // namespace

std::vector<int> CpuTransfers::nodes() const {
  return nodes_from(current_node(), online_nodes());
}

std::int64_t CpuTransfers::host_bytes_used() const {
  return process_bytes();
}

std::optional<std::string> CpuTransfers::cannot_hold(const HostMemoryRequest& request) const {
  if (request.node) {
    if (auto reason = no_such_node(*request.node, online_nodes())) {
      return reason;
    }
  }
  return request.kind == HostKind::pinned ? refused_by(lock_limit(), request.bytes) : std::nullopt;
}

std::unique_ptr<HostMemory> CpuTransfers::host_memory(const HostMemoryRequest& request) {
  return host_pages(request);
}

void CpuTransfers::copy(std::span<const Copy> copies) {
  // Waking another core takes longer than copying less than that.
  constexpr std::int64_t kWorthSharing = std::int64_t{1} << 20;
  std::int64_t bytes = 0;
  for (const Copy& copy : copies) {
    bytes += copy.bytes;
  }
  // Entering a parallel region costs half a microsecond even where one thread does it all.
  if (copies.size() == 1 || bytes < kWorthSharing) {
    for (const Copy& copy : copies) {
      copy_one(copy);
    }
    return;
  }
  const auto count = static_cast<std::int64_t>(copies.size());
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    copy_one(copies[static_cast<std::size_t>(i)]);
  }
}

std::unique_ptr<CopyQueue> CpuTransfers::copy_queue() {
  return std::make_unique<ImmediateQueue>();
}

// Data larger than all caches evicts its own beginning.
void CpuTransfers::evict(const std::byte* data, std::int64_t bytes) {
  constexpr std::int64_t kBeyondAll = std::int64_t{64} << 20;
  if (bytes <= kBeyondAll) {
    evict_lines(data, bytes);
  }
}

bool CpuTransfers::renew(std::byte* data, std::int64_t bytes) {
  return renew_pages(data, bytes);
}

}  // namespace bench::kernels
