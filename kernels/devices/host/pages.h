// Host memory by the page: locked or not, on a NUMA node of choice, and what the system allows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/transfers.h"

namespace bench::kernels {

// Bytes that this process may lock, and has locked.
struct LockLimit {
  std::optional<std::int64_t> bytes;  // RLIMIT_MEMLOCK; none: no limit, or CAP_IPC_LOCK, which lifts it
  std::int64_t locked = 0;
};
LockLimit lock_limit();

// CAP_IPC_LOCK among the capabilities of a /proc/self/status.
bool may_lock_freely(std::string_view status);

// Why `bytes` more cannot be locked, and how to raise the limit; nullopt where they can.
std::optional<std::string> refused_by(const LockLimit& limit, std::int64_t bytes);

// Online NUMA nodes, from "0-1,3" of /sys/devices/system/node/online; {0} where nothing tells.
std::vector<int> nodes_in(std::string_view online);
std::vector<int> online_nodes();
// The node of the core that runs this thread now; none where nothing tells.
std::optional<int> current_node();
// The same nodes, this one first.
std::vector<int> nodes_from(std::optional<int> first, std::vector<int> nodes);
// Why memory cannot be had of this node; nullopt where it can.
std::optional<std::string> no_such_node(int node, const std::vector<int>& online);

// Throws OutOfMemory where that is much, and more than 95 % of the memory free now: Linux promises memory it
// does not have and kills who touches it.
void refuse_beyond_available(std::int64_t bytes);

// As HostMemoryRequest says; every page touched. Throws OutOfMemory and Unsupported.
std::unique_ptr<HostMemory> host_pages(const HostMemoryRequest& request);

// Puts the pages, which must not have been touched yet, on a node. Throws Unsupported.
void bind_to_node(std::byte* data, std::int64_t bytes, int node);

// madvise(MADV_DONTNEED) on the whole pages within; unlocked private memory only.
bool renew_pages(std::byte* data, std::int64_t bytes);

// Resident memory of this process, page by page: the counters that are cheaper to read lag behind.
std::int64_t process_bytes();

}  // namespace bench::kernels
