// The cores and the memory that this process may use of its machine, container limits counted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

struct HostInfo {
  std::string cpu;       // as its maker calls it; empty where the system does not say
  int usable_cores = 1;  // the affinity mask's cores, at most the whole cores of the cgroup's quota
  std::optional<double> cpu_quota;   // cores the cgroup allows; none: no limit
  std::int64_t memory_bytes = 0;     // installed memory, at most the cgroup's limit
  std::int64_t available_bytes = 0;  // free or reclaimable now, at most the cgroup's headroom
};

// Reads /proc and /sys/fs/cgroup each time. A fact that cannot be read stays at its default.
HostInfo host_info();

// The same from another root ("" is the real one), so that a machine can be laid out in a folder.
HostInfo host_info(const std::filesystem::path& root, int affinity_cores);

// A line "MemAvailable:   123 kB" of /proc/meminfo, or of another file of that form, in bytes.
std::optional<std::int64_t> meminfo_bytes(std::string_view meminfo, std::string_view key);

// One mounted cgroup hierarchy in which this process lives.
struct CgroupMount {
  std::filesystem::path folder;  // of this process's group
  std::filesystem::path mount;   // the hierarchy's top; limits of every folder between the two apply
};

// The hierarchy that has `controller` ("cpu", "memory"; "" for v2), from /proc/self/mountinfo and
// /proc/self/cgroup. None where it is not mounted or this process is not in it.
std::optional<CgroupMount> find_cgroup(std::string_view mountinfo, std::string_view self_cgroup,
                                       std::string_view controller);

}  // namespace bench
