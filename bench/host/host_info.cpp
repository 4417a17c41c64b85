#include "bench/host/host_info.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "bench/host/text_file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  text = trimmed(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

// Empty where the file is missing or unreadable: every fact here is optional.
std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Value after "key<separator>", at the start of a line.
std::optional<std::string_view> line_value(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t at = line.find(separator);
    if (at != std::string_view::npos && trimmed(line.substr(0, at)) == key) {
      return trimmed(line.substr(at + 1));
    }
  }
  return std::nullopt;
}

// Cores, from v2's cpu.max ("150000 100000", "max 100000"), or from v1's cpu.cfs_quota_us ("-1": no limit)
// and cpu.cfs_period_us.
std::optional<double> cores_of(std::string_view quota_us, std::string_view period_us) {
  const auto quota = number<double>(quota_us);
  const auto period = number<double>(period_us);
  return quota && period && *quota > 0 && *period > 0 ? std::optional(*quota / *period) : std::nullopt;
}

// "max", and v1's page-rounded "no limit" of 2^63, are none.
std::optional<std::int64_t> memory_limit(std::string_view text) {
  const auto bytes = number<std::uint64_t>(text);
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62U;
  return bytes && *bytes < kNoLimit ? std::optional(static_cast<std::int64_t>(*bytes)) : std::nullopt;
}

struct CgroupLimits {
  std::optional<double> cores;
  std::optional<std::int64_t> memory;
  std::optional<std::int64_t> headroom;
};

template <class Number>
void keep_smaller(std::optional<Number>& smallest, std::optional<Number> candidate) {
  if (candidate && (!smallest || *candidate < *smallest)) {
    smallest = candidate;
  }
}

// Where a group says what memory it may use, what it uses, and how much of that is page cache which the
// kernel gives back before the limit bites (a line of memory.stat).
struct MemoryFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;
};
constexpr MemoryFiles kMemoryV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles kMemoryV2{"memory.max", "memory.current", "inactive_file"};

void add_memory(CgroupLimits& limits, const fs::path& folder, const MemoryFiles& files) {
  const std::optional<std::int64_t> limit = memory_limit(read_text(folder / files.limit));
  if (!limit) {
    return;
  }
  const std::string stat = read_text(folder / "memory.stat");
  const auto reclaimable = number<std::int64_t>(line_value(stat, files.reclaimable, ' ').value_or(""));
  const std::int64_t usage =
      number<std::int64_t>(read_text(folder / files.usage)).value_or(0) - reclaimable.value_or(0);
  keep_smaller(limits.memory, limit);
  keep_smaller(limits.headroom,
               std::optional(std::max<std::int64_t>(*limit - std::max<std::int64_t>(usage, 0), 0)));
}

// A group's limit holds for all groups below it, so the tightest one on the way up counts.
template <class Action>
void for_each_group_upwards(const fs::path& root, std::string_view controller, const Action& action) {
  const auto group = find_cgroup(read_text(root.string() + "/proc/self/mountinfo"),
                                 read_text(root.string() + "/proc/self/cgroup"), controller);
  if (!group) {
    return;
  }
  const auto below_root = [&](const fs::path& path) { return fs::path(root.string() + path.string()); };
  fs::path folder = group->folder;
  // Without a cgroup namespace a container sees the host's path, which its own mount does not have.
  std::error_code ignored;
  if (!fs::exists(below_root(folder), ignored)) {
    folder = group->mount;
  }
  while (true) {
    action(below_root(folder));
    if (folder == group->mount || !folder.has_relative_path()) {
      return;
    }
    folder = folder.parent_path();
  }
}

CgroupLimits read_cgroups(const fs::path& root) {
  CgroupLimits limits;
  for_each_group_upwards(root, "", [&](const fs::path& folder) {
    const std::string cpu_max = read_text(folder / "cpu.max");
    const std::vector<std::string_view> parts = split(trimmed(cpu_max), ' ');
    if (parts.size() == 2) {
      keep_smaller(limits.cores, cores_of(parts[0], parts[1]));
    }
    add_memory(limits, folder, kMemoryV2);
  });
  for_each_group_upwards(root, "cpu", [&](const fs::path& folder) {
    keep_smaller(limits.cores,
                 cores_of(read_text(folder / "cpu.cfs_quota_us"), read_text(folder / "cpu.cfs_period_us")));
  });
  for_each_group_upwards(root, "memory",
                         [&](const fs::path& folder) { add_memory(limits, folder, kMemoryV1); });
  return limits;
}

// Grows the mask until the kernel accepts it: machines may have more cores than cpu_set_t holds.
int affinity_cores() {
  for (int cores = CPU_SETSIZE; cores <= (1 << 20); cores *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(cores),
                                                                [](cpu_set_t* m) { CPU_FREE(m); });
    const std::size_t bytes = CPU_ALLOC_SIZE(cores);
    if (mask != nullptr && sched_getaffinity(0, bytes, mask.get()) == 0) {
      return std::max(CPU_COUNT_S(bytes, mask.get()), 1);
    }
  }
  return 1;
}

}  // namespace

std::optional<std::int64_t> meminfo_bytes(std::string_view meminfo, std::string_view key) {
  const auto value = line_value(meminfo, key, ':');
  const auto kibibytes = value ? number<std::int64_t>(*value) : std::nullopt;
  return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
}

std::optional<CgroupMount> find_cgroup(std::string_view mountinfo, std::string_view self_cgroup,
                                       std::string_view controller) {
  // Lines "id:controllers:path"; v2's has no controllers.
  std::optional<std::string_view> path;
  for (const std::string_view line : split(self_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool here = controller.empty() ? controllers.empty()
                                         : std::ranges::count(split(controllers, ','), controller) > 0;
    if (here) {
      path = line.substr(second + 1);
    }
  }
  if (!path) {
    return std::nullopt;
  }
  // Lines "id parent dev root mountpoint options… - type source super-options"; super-options name v1's
  // controllers.
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) {
      continue;
    }
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) {
      continue;
    }
    const bool here = controller.empty()
                          ? after[0] == "cgroup2"
                          : after[0] == "cgroup" && std::ranges::count(split(after[2], ','), controller);
    if (!here) {
      continue;
    }
    // The mount may show only a part of the hierarchy (its root, field 4): the group's path starts below
    // that.
    std::string_view below = *path;
    const std::string_view shown = before[3];
    if (shown != "/" && below.starts_with(shown)) {
      below.remove_prefix(shown.size());
    }
    while (below.starts_with('/')) {
      below.remove_prefix(1);
    }
    const fs::path mount(before[4]);
    return CgroupMount{.folder = below.empty() ? mount : mount / below, .mount = mount};
  }
  return std::nullopt;
}

HostInfo host_info(const fs::path& root, int cores) {
  const std::string cpuinfo = read_text(root.string() + "/proc/cpuinfo");
  const std::string meminfo = read_text(root.string() + "/proc/meminfo");
  const CgroupLimits limits = read_cgroups(root);
  HostInfo host;
  // "Hardware": on some ARM boards.
  host.cpu =
      line_value(cpuinfo, "model name", ':').value_or(line_value(cpuinfo, "Hardware", ':').value_or(""));
  host.cpu_quota = limits.cores;
  host.usable_cores = std::max(cores, 1);
  if (limits.cores) {
    // Threads beyond the quota's whole cores would be stopped in the middle of a step.
    host.usable_cores = std::clamp(static_cast<int>(std::floor(*limits.cores)), 1, host.usable_cores);
  }
  host.memory_bytes = meminfo_bytes(meminfo, "MemTotal").value_or(0);
  host.available_bytes = meminfo_bytes(meminfo, "MemAvailable").value_or(host.memory_bytes);
  if (limits.memory) {
    host.memory_bytes = std::min(host.memory_bytes, *limits.memory);
    host.available_bytes = std::min(host.available_bytes, *limits.headroom);
  }
  return host;
}

HostInfo host_info() {
  return host_info({}, affinity_cores());
}

}  // namespace bench
