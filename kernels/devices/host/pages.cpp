#include "kernels/devices/host/pages.h"

#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/host/interrupt.h"
#include "bench/text/units.h"

namespace bench::kernels {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::int64_t page_bytes() {
  static const std::int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

std::int64_t whole_pages(std::int64_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// Private anonymous pages that nothing else uses, so that locking or renewing them affects nothing else.
class Pages final : public HostMemory {
 public:
  explicit Pages(std::int64_t bytes) : bytes_(bytes), mapped_(whole_pages(bytes)) {
    void* const data = mmap(nullptr, static_cast<std::size_t>(mapped_), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      throw OutOfMemory(fmt::format("the host has no {} B left", bytes), bytes);
    }
    data_ = static_cast<std::byte*>(data);
  }
  ~Pages() override { munmap(data_, static_cast<std::size_t>(mapped_)); }  // unlocks too

  std::byte* data() const override { return data_; }
  std::int64_t bytes() const override { return bytes_; }

  // Locking touches every page; ordinary ones are written to once, or reads would all meet the one page of
  // zeros.
  void lock() {
    if (mlock(data_, static_cast<std::size_t>(mapped_)) != 0) {
      const auto reason = refused_by(lock_limit(), mapped_);
      if (reason) {
        throw Unsupported(*reason);
      }
      throw OutOfMemory(fmt::format("the host cannot lock {} B", bytes_), bytes_);
    }
  }
  // Many gigabytes take seconds, and a run that was interrupted uses none of them.
  void touch() {
    for (std::int64_t at = 0; at < mapped_ && !interrupted(); at += page_bytes()) {
      data_[at] = std::byte{1};
    }
  }

 private:
  std::int64_t bytes_;
  std::int64_t mapped_;
  std::byte* data_ = nullptr;
};

}  // namespace

bool may_lock_freely(std::string_view status) {
  constexpr std::string_view kKey = "CapEff:";
  const auto at = status.find(kKey);
  if (at == std::string_view::npos) {
    return false;
  }
  const auto digits = status.find_first_not_of(" \t", at + kKey.size());
  std::uint64_t mask = 0;
  if (digits == std::string_view::npos ||
      std::from_chars(status.data() + digits, status.data() + status.size(), mask, 16).ec != std::errc{}) {
    return false;
  }
  return (mask >> unsigned{CAP_IPC_LOCK} & 1U) != 0;
}

LockLimit lock_limit() {
  const std::string status = text_of("/proc/self/status");
  LockLimit limit{.bytes = std::nullopt, .locked = meminfo_bytes(status, "VmLck").value_or(0)};
  rlimit allowed{};
  if (!may_lock_freely(status) && getrlimit(RLIMIT_MEMLOCK, &allowed) == 0 &&
      allowed.rlim_cur != RLIM_INFINITY) {
    limit.bytes = static_cast<std::int64_t>(allowed.rlim_cur);
  }
  return limit;
}

std::optional<std::string> refused_by(const LockLimit& limit, std::int64_t bytes) {
  if (!limit.bytes || bytes <= *limit.bytes - limit.locked) {
    return std::nullopt;
  }
  return fmt::format(
      "{} cannot be locked: this process may lock {}{}; raise it with ulimit -l (KiB), \"memlock\" in "
      "/etc/security/limits.conf, LimitMEMLOCK= of a systemd unit, or docker run --ulimit memlock=-1",
      format_bytes(bytes), format_bytes(*limit.bytes),
      limit.locked > 0 ? fmt::format(" and has locked {}", format_bytes(limit.locked)) : "");
}

std::vector<int> nodes_in(std::string_view online) {
  std::vector<int> nodes;
  const char* at = online.data();
  const char* const end = at + online.size();
  while (at < end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc{}) {
      break;
    }
    int last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
    }
    for (int node = first; read.ec == std::errc{} && node <= last; ++node) {
      nodes.push_back(node);
    }
    at = read.ptr < end && *read.ptr == ',' ? read.ptr + 1 : end;
  }
  return nodes.empty() ? std::vector<int>{0} : nodes;
}

std::vector<int> online_nodes() {
  return nodes_in(text_of("/sys/devices/system/node/online"));
}

std::optional<int> current_node() {
  unsigned core = 0;
  unsigned node = 0;
  return getcpu(&core, &node) == 0 ? std::optional(static_cast<int>(node)) : std::nullopt;
}

std::vector<int> nodes_from(std::optional<int> first, std::vector<int> nodes) {
  if (const auto at = first ? std::ranges::find(nodes, *first) : nodes.end(); at != nodes.end()) {
    std::rotate(nodes.begin(), at, at + 1);
  }
  return nodes;
}

std::optional<std::string> no_such_node(int node, const std::vector<int>& online) {
  for (const int known : online) {
    if (known == node) {
      return std::nullopt;
    }
  }
  return fmt::format("there is no NUMA node {} here; this machine has {} {}", node,
                     online.size() == 1 ? "only node" : "nodes", fmt::join(online, ", "));
}

void bind_to_node(std::byte* data, std::int64_t bytes, int node) {
  constexpr unsigned long kBits = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, 16> mask{};
  const auto bit = static_cast<unsigned long>(node);
  if (bit < mask.size() * kBits) {
    mask[bit / kBits] = 1UL << bit % kBits;
  }
  // The kernel's own count is one more than the bits it reads.
  const long answer = syscall(SYS_mbind, data, static_cast<unsigned long>(whole_pages(bytes)), MPOL_BIND,
                              mask.data(), mask.size() * kBits + 1, 0UL);
  if (answer != 0) {
    throw Unsupported(fmt::format("memory of NUMA node {} cannot be had: the system refuses mbind", node));
  }
}

void refuse_beyond_available(std::int64_t bytes) {
  constexpr std::int64_t kMostPercent = 95;
  constexpr std::int64_t kHarmless = std::int64_t{64} << 20;  // asking takes longer than getting so little
  if (bytes < kHarmless) {
    return;
  }
  const std::int64_t available = host_info().available_bytes;
  if (bytes > available / 100 * kMostPercent) {
    throw OutOfMemory(fmt::format("{} of the host's memory were asked for, {} are free", format_bytes(bytes),
                                  format_bytes(available)),
                      bytes);
  }
}

std::unique_ptr<HostMemory> host_pages(const HostMemoryRequest& request) {
  if (request.node) {
    if (const auto reason = no_such_node(*request.node, online_nodes())) {
      throw Unsupported(*reason);
    }
  }
  refuse_beyond_available(request.bytes);
  auto pages = std::make_unique<Pages>(request.bytes);
  if (request.node) {
    bind_to_node(pages->data(), request.bytes, *request.node);
  }
  if (request.kind == HostKind::pinned) {
    pages->lock();
  } else {
    pages->touch();
  }
  return pages;
}

bool renew_pages(std::byte* data, std::int64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const auto page = static_cast<std::uintptr_t>(page_bytes());
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + static_cast<std::uintptr_t>(bytes)) / page * page;
  return begin < end && madvise(data + (begin - address), end - begin, MADV_DONTNEED) == 0;
}

std::int64_t process_bytes() {
  return meminfo_bytes(text_of("/proc/self/smaps_rollup"), "Rss").value_or(0);
}

}  // namespace bench::kernels
